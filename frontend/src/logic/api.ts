/** The bodies of the API. Their types are generated from openapi.json (`npm run gen`); here are other names for a few. */

import type {
  AlertChannelPut,
  Finding,
  FindingGroup,
  HostSeriesBlock,
  JobInfo,
  MetricInfo,
  NoteCreate,
  SeriesBlock,
  WatchMuteRecord,
  Window,
} from "../api/types.gen";

export type * from "../api/types.gen";

export type FindingKind = Finding["kind"];
export type HostMetric = MetricInfo;
export type HostSeriesAnswer = HostSeriesBlock;
export type Interval = Window;
export type Job = JobInfo;
export type SeriesAnswer = SeriesBlock;
export type Subsystem = FindingGroup["subsystem"];

export type WatchMute = WatchMuteRecord;

export type ChannelSettings = AlertChannelPut["settings"];
export type NoteContent = NoteCreate["note"];
export type NoteKind = NoteContent["kind"];
