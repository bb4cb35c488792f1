/** Stats of the catalogue for tests, of which a test names only what it is about. */

import type { FieldInfo, PanelInfo, StatInfo } from "./api";

export function madeField(key: string, unit: string, changes: Partial<FieldInfo> = {}): FieldInfo {
  return {
    key,
    column: key,
    group: "",
    unit,
    kind: "gauge",
    semantics: "instant",
    worse: "neither",
    decimals: 0,
    help: "",
    source: "",
    is_documented: true,
    meanings: [],
    ...changes,
  };
}

export function madePanel(key: string, fields: string[], changes: Partial<PanelInfo> = {}): PanelInfo {
  return { key, title: key, section: "disk", fields, instances: "all", is_stacked: false, ...changes };
}

export function madeStat(name: string, changes: Partial<StatInfo> = {}): StatInfo {
  return {
    name,
    title: name,
    spec: name,
    tool: name,
    os: "linux",
    commands: [],
    instance_title: "disk",
    shape: "table",
    fields: [],
    panels: [],
    ...changes,
  };
}
