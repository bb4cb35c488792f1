import { Group, NativeSelect, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, type RefObject, useState } from "react";
import type { ArtefactTableColumn } from "../../logic/api";
import type { FlameDirection, FlameTab, FlameThreads, FlameView } from "../../state/flame";

const TABS = { show: "Show", graph: "Graph", functions: "Functions", threads: "Threads" };

const TYPING_MS = 250;

interface FlameControlsProps {
  readonly view: FlameView;
  readonly onView: (changed: Partial<FlameView>) => void;
  readonly columns: readonly ArtefactTableColumn[];
  readonly column: string;
  readonly threads: readonly { readonly name: string }[];
  readonly hasThreads: boolean;
  readonly tabs: readonly FlameTab[];
  /** What the search found; "" without one. */
  readonly matched: string;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly children?: ReactNode;
}

/** How stacks are merged, weighed and searched. */
export function FlameControls(props: FlameControlsProps) {
  const { view, onView } = props;
  return (
    <Group gap="sm" mb="xs" align="flex-end">
      <SegmentedControl
        size="xs"
        aria-label="Show"
        data={props.tabs.map((tab) => ({ value: tab, label: TABS[tab] }))}
        value={view.tab}
        onChange={(tab) => {
          onView({ tab });
        }}
      />
      {props.columns.length > 1 && (
        <NativeSelect
          size="xs"
          label="Weight"
          data={props.columns.map(({ key, title, unit }) => ({ value: key, label: unit === "" ? title : `${title} (${unit})` }))}
          value={props.column}
          onChange={(event) => {
            onView({ column: event.currentTarget.value });
          }}
        />
      )}
      {view.tab === "graph" && view.called === null && (
        <NativeSelect
          size="xs"
          label="Merge stacks from"
          data={[
            { value: "down", label: "Root: what was called" },
            { value: "up", label: "Leaf: where it ends" },
          ]}
          value={view.direction}
          onChange={(event) => {
            onView({ direction: event.currentTarget.value as FlameDirection, focus: [] });
          }}
        />
      )}
      {props.hasThreads && (
        <NativeSelect
          size="xs"
          label="Threads"
          data={[
            { value: "named", label: "by name" },
            { value: "each", label: "each thread" },
            { value: "none", label: "all as one" },
          ]}
          value={view.threads}
          onChange={(event) => {
            onView({ threads: event.currentTarget.value as FlameThreads, thread: null, focus: [], called: null });
          }}
        />
      )}
      {view.threads !== "none" && (props.threads.length > 1 || view.thread !== null) && (
        <NativeSelect
          size="xs"
          maw={240}
          label="Only thread"
          data={[
            { value: "", label: "all" },
            ...new Set([...(view.thread === null ? [] : [view.thread]), ...props.threads.map(({ name }) => name)]),
          ]}
          value={view.thread ?? ""}
          onChange={(event) => {
            onView({ thread: event.currentTarget.value === "" ? null : event.currentTarget.value, focus: [] });
          }}
        />
      )}
      <SearchInput view={view} onView={onView} search={props.search} />
      {props.children}
      {props.matched !== "" && (
        <Text fz="sm" fw={600} role="status">
          {props.matched}
        </Text>
      )}
    </Group>
  );
}

function SearchInput({ view, onView, search }: Pick<FlameControlsProps, "view" | "onView" | "search">) {
  const [text, setText] = useState(view.search);
  const settle = useDebouncedCallback((settled: string) => {
    onView({ search: settled.trim() });
  }, TYPING_MS);
  return (
    <TextInput
      ref={search}
      size="xs"
      type="search"
      label="Highlight functions"
      placeholder="read|write"
      maxLength={300}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        settle(event.currentTarget.value);
      }}
    />
  );
}
