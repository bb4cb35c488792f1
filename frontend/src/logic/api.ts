/** Short names for the bodies of the API; the types themselves are generated. */

import type { components } from "../api/types.gen";

export type {
  DraftColumn,
  JobState,
  PreviewRow,
  Reparse,
  ReparseCreate,
  ReparseList,
  SpecDetail,
  SpecDraft,
  SpecDraftRequest,
  SpecInfo,
  SpecList,
  SpecPreview,
} from "../api/types.coming";

type Schemas = components["schemas"];

export type AgentTokenCreate = Schemas["AgentTokenCreate"];
export type ApiTokenCreate = Schemas["ApiTokenCreate"];
export type BaselineCreate = Schemas["BaselineCreate"];
export type BaselineInfo = Schemas["BaselineInfo"];
export type BaselineList = Schemas["BaselineList"];
export type BaselineUpdate = Schemas["BaselineUpdate"];
export type Comparison = Schemas["Comparison"];
export type ComparisonSide = Schemas["ComparisonSide"];
export type ContextLine = Schemas["ContextLine"];
export type Coverage = Schemas["Coverage"];
export type ErrorBody = Schemas["ErrorBody"];
export type FieldInfo = Schemas["FieldInfo"];
export type Finding = Schemas["Finding"];
export type Health = Schemas["Health"];
export type HostAccounts = Schemas["HostAccounts"];
export type HostDetail = Schemas["HostDetail"];
export type HostInfo = Schemas["HostInfo"];
export type HostList = Schemas["HostList"];
export type Import = Schemas["Import"];
export type ImportedFile = Schemas["ImportedFile"];
export type ImportList = Schemas["ImportList"];
export type InstanceList = Schemas["InstanceList"];
export type Interval = Schemas["Interval"];
export type LineCounts = Schemas["LineCounts"];
export type Me = Schemas["Me"];
export type NewToken = Schemas["NewToken"];
export type OneSidedSeries = Schemas["OneSidedSeries"];
export type PanelInfo = Schemas["PanelInfo"];
export type PasswordChange = Schemas["PasswordChange"];
export type ReasonCount = Schemas["ReasonCount"];
export type ReasonTotal = Schemas["ReasonTotal"];
export type RejectedLineInfo = Schemas["RejectedLineInfo"];
export type RejectedLineList = Schemas["RejectedLineList"];
export type Role = Schemas["Role"];
export type Series = Schemas["Series"];
export type SeriesBlock = Schemas["SeriesBlock"];
export type StatInfo = Schemas["StatInfo"];
export type StatList = Schemas["StatList"];
export type StreamAccount = Schemas["StreamAccount"];
export type StreamContext = Schemas["StreamContext"];
export type StreamInfo = Schemas["StreamInfo"];
export type StreamState = Schemas["StreamState"];
export type Summary = Schemas["Summary"];
export type ThinSeries = Schemas["ThinSeries"];
export type TokenInfo = Schemas["TokenInfo"];
export type TokenList = Schemas["TokenList"];
export type UserCreate = Schemas["UserCreate"];
export type UserInfo = Schemas["UserInfo"];
export type UserList = Schemas["UserList"];
export type UserUpdate = Schemas["UserUpdate"];
