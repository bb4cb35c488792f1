import { Modal, TextInput } from "@mantine/core";
import {
  type Icon,
  IconActivity,
  IconArrowsDiff,
  IconBolt,
  IconChartLine,
  IconCpu,
  IconFile,
  IconFileAnalytics,
  IconFlag,
  IconLayoutGrid,
  IconSearch,
  IconServer,
  IconTag,
  IconTerminal2,
} from "@tabler/icons-react";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { hostsQuery, viewsQuery } from "../../api/queries";
import { searchQuery } from "../../api/search";
import type { SearchKind } from "../../logic/api";
import { groupItems, type ItemKind, nextRow, type PaletteItem, rankOwn } from "../../logic/finder";
import { formatCount } from "../../logic/number";
import { closePalette, type PaletteState, takeTyped } from "../../state/palette";
import { ErrorLine } from "../StateView";
import { ACTION_ITEMS, COMMAND_ITEMS, PAGE_ITEMS, tagItems, viewItems } from "./own_items";
import { useCurrentHost, useOpenItem } from "./useOpenItem";
import "./Palette.css";

const SETTLED_MS = 90;
const METRICS: readonly SearchKind[] = ["metric", "other_metric"];
const NO_KINDS: readonly SearchKind[] = [];

const ICONS: Readonly<Record<ItemKind, Icon>> = {
  action: IconBolt,
  page: IconFile,
  view: IconLayoutGrid,
  host: IconServer,
  tag: IconTag,
  metric: IconChartLine,
  other_metric: IconChartLine,
  instance: IconCpu,
  command: IconTerminal2,
  process: IconTerminal2,
  baseline: IconActivity,
  comparison: IconArrowsDiff,
  artefact: IconFileAnalytics,
  event: IconFlag,
};

interface PaletteProps {
  readonly scope: "all" | "metrics";
  readonly run: PaletteState["run"];
  readonly onShortcuts: () => void;
}

/** Finds anything by words, and opens it. */
export function Palette({ scope, run, onShortcuts }: PaletteProps) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  /** The text that Enter was pressed for before its hits were there. */
  const [wanted, setWanted] = useState<{ readonly text: string; readonly isBeside: boolean } | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const host = useCurrentHost();
  const [settled] = useDebouncedValue(text, SETTLED_MS, { leading: true });
  const answer = useQuery(searchQuery({ query: settled, host, kinds: scope === "all" ? NO_KINDS : METRICS }));
  const views = useQuery({ ...viewsQuery, enabled: scope === "all" }).data?.views;
  const hosts = useQuery({ ...hostsQuery, enabled: scope === "all" }).data?.hosts;
  const open = useOpenItem({ run, onShortcuts });

  const isEmpty = text.trim() === "";
  const isReady =
    isEmpty || answer.error !== null || (settled === text && answer.data !== undefined && !answer.isPlaceholderData);
  const groups = useMemo(() => {
    const commands = run === null ? [] : COMMAND_ITEMS;
    const saved = [...viewItems(views ?? [], host), ...tagItems(hosts ?? [])];
    // Without words there would be more views and tags than anything else.
    const known = scope === "all" ? [...PAGE_ITEMS, ...ACTION_ITEMS, ...commands, ...(isEmpty ? [] : saved)] : [];
    return groupItems(rankOwn(known, text), isEmpty ? undefined : answer.data, host);
  }, [scope, run, text, isEmpty, answer.data, host, views, hosts]);
  const items = groups.flatMap((group) => group.items);
  const chosen = items[active];

  const choose = (item: PaletteItem, isBeside: boolean): void => {
    closePalette();
    open(item, isBeside);
  };
  useEffect(() => {
    input.current?.focus();
  }, []);
  const first = items[0];
  useEffect(() => {
    if (wanted?.text === text && isReady) {
      if (first !== undefined) {
        closePalette();
        open(first, wanted.isBeside);
      }
    }
  }, [wanted, text, isReady, first, open]);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active, groups]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    const row = nextRow(active, event.key, items.length);
    if (row !== null) {
      event.preventDefault();
      setActive(row);
    } else if (event.key === "Enter") {
      event.preventDefault();
      // Of what was typed before, nothing is opened.
      if (!isReady) {
        setWanted({ text, isBeside: event.shiftKey });
      } else if (chosen !== undefined) {
        choose(chosen, event.shiftKey);
      }
    }
  };

  return (
    <Modal.Root opened onClose={closePalette} size="lg" yOffset="8vh">
      <Modal.Overlay backgroundOpacity={0.45} />
      <Modal.Content aria-label={scope === "all" ? "Search" : "Explore a metric"}>
        <TextInput
          ref={input}
          data-autofocus
          variant="unstyled"
          size="md"
          px={14}
          role="combobox"
          aria-label={scope === "all" ? "Search" : "Metric to explore"}
          aria-expanded
          aria-autocomplete="list"
          aria-controls={`${id}-list`}
          {...(chosen === undefined ? {} : { "aria-activedescendant": `${id}-${String(active)}` })}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          leftSection={<IconSearch size={17} aria-hidden />}
          placeholder={
            scope === "all"
              ? "Metric, host, tag, disk, process, view, baseline, event, page …"
              : "Metric: iowait, sda util, run queue …"
          }
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setActive(0);
            setWanted(null);
          }}
          onKeyDown={onKeyDown}
          onFocus={() => {
            const before = takeTyped();
            if (before.text !== "") {
              setText(text + before.text);
              setWanted(before.isConfirmed ? { text: text + before.text, isBeside: false } : null);
            }
          }}
        />
        <div className="palette-list" role="listbox" id={`${id}-list`} aria-label="Results" ref={list} aria-busy={!isReady}>
          {groups.map((group) => (
            <div key={group.kind} role="group" aria-labelledby={`${id}-${group.kind}`}>
              <div className="palette-group" id={`${id}-${group.kind}`}>
                {group.title}
                {group.n_found > group.items.length && `: ${formatCount(group.items.length)} of ${formatCount(group.n_found)}`}
              </div>
              {group.items.map((item) => {
                const row = items.indexOf(item);
                return (
                  <Row
                    key={item.key}
                    id={`${id}-${String(row)}`}
                    item={item}
                    isActive={row === active}
                    onHover={() => {
                      setActive(row);
                    }}
                    onChoose={(isBeside) => {
                      choose(item, isBeside);
                    }}
                  />
                );
              })}
            </div>
          ))}
        </div>
        {items.length === 0 && <Nothing text={text} isReady={isReady} host={host} />}
        <div style={{ padding: "0 14px" }}>
          <ErrorLine error={isEmpty ? null : answer.error} />
        </div>
        <div className="palette-foot">
          <span>↑ ↓ choose</span>
          <span>Enter open</span>
          <span>Shift Enter draw below the explored ones</span>
          <span>Esc close</span>
        </div>
      </Modal.Content>
    </Modal.Root>
  );
}

interface RowProps {
  readonly id: string;
  readonly item: PaletteItem;
  readonly isActive: boolean;
  readonly onHover: () => void;
  readonly onChoose: (isBeside: boolean) => void;
}

function Row({ id, item, isActive, onHover, onChoose }: RowProps) {
  const KindIcon = ICONS[item.kind];
  return (
    <div
      id={id}
      role="option"
      aria-selected={isActive}
      className="palette-row"
      onMouseMove={isActive ? undefined : onHover}
      onClick={(event) => {
        onChoose(event.shiftKey);
      }}
    >
      <KindIcon size={15} aria-hidden />
      <span className="palette-name">{item.name}</span>
      <span className="palette-detail" title={item.detail}>
        {item.detail}
      </span>
      <span className="palette-hint">{item.hint}</span>
    </div>
  );
}

/** Says why the list is empty. */
function Nothing({ text, isReady, host }: { readonly text: string; readonly isReady: boolean; readonly host: string | null }) {
  return (
    <p className="soft" role="status" style={{ margin: 0, padding: "14px", fontSize: 13 }}>
      {text.trim() === ""
        ? "Type the name of a metric, as the tool prints it or in words: iowait, run queue, read latency."
        : !isReady
          ? "Searching …"
          : `Nothing fits all words of “${text.trim()}”${host === null ? "" : ` on ${host}`}. Try fewer words, or the beginning of a name.`}
    </p>
  );
}
