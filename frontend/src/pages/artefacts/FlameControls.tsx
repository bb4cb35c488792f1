import { Group, NativeSelect, SegmentedControl, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, type RefObject, useState } from "react";
import type { ArtefactTableColumn } from "../../logic/api";
import type { FlameDirection, FlameTab, FlameThreads, FlameView } from "../../state/flame";
import { words } from "../../words";

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
  const says = words.flame.controls;
  return (
    <Group gap="sm" mb="xs" align="flex-end">
      <SegmentedControl
        size="xs"
        aria-label={words.flame.tabs.show}
        data={props.tabs.map((tab) => ({ value: tab, label: words.flame.tabs[tab] }))}
        value={view.tab}
        onChange={(tab) => {
          onView({ tab });
        }}
      />
      {props.columns.length > 1 && (
        <NativeSelect
          size="xs"
          label={says.weight}
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
          label={says.mergeFrom}
          data={[
            { value: "down", label: says.root },
            { value: "up", label: says.leaf },
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
          label={says.threads}
          data={[
            { value: "named", label: says.named },
            { value: "each", label: says.each },
            { value: "none", label: says.none },
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
          label={says.onlyThread}
          data={[
            { value: "", label: says.allThreads },
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
      label={words.flame.controls.search}
      placeholder={words.flame.controls.searchHint}
      maxLength={300}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        settle(event.currentTarget.value);
      }}
    />
  );
}
