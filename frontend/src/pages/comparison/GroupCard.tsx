import {
  IconArrowDownRight,
  IconArrowRight,
  IconArrowUpRight,
  IconChevronDown,
  IconChevronUp,
  IconPin,
  IconPinnedFilled,
} from "@tabler/icons-react";
import { memo, useEffect, useRef, useState } from "react";
import { PageLink } from "../../components/PageLink";
import { ProcessLink } from "../../components/ProcessLink";
import type { FindingGroup, StatInfo, SideValues } from "../../logic/api";
import { computedDecimals, fieldOf, groupTitle } from "../../logic/comparison";
import {
  describeChangeRatio,
  describeMembers,
  groupKey,
  KIND_WORDS,
  type Mark,
  markOf,
  SUBSYSTEM_LABELS,
} from "../../logic/group";
import { formatScore, formatWithUnit } from "../../logic/number";
import { percent } from "../../logic/surface";
import type { Zone } from "../../logic/zone";
import type { Alignment } from "../../state/comparison";
import { Members, Numbers, Questions } from "./GroupDetails";
import { GroupOverlay } from "./GroupOverlay";
import { GroupSketch } from "./GroupSketch";
import { groupLink, type Place } from "./link";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

interface GroupCardProps {
  readonly group: FindingGroup;
  readonly stat: StatInfo | null;
  readonly place: Place;
  readonly zone: Zone;
  readonly align: Alignment;
  readonly isPinned: boolean;
  readonly hasManyHosts: boolean;
  readonly mayMute: boolean;
  /** A new object each time that the card is asked for: it opens and takes the focus. Null: another one, or none. */
  readonly wanted: object | null;
  readonly onPin: (key: string) => void;
  readonly onMute: (group: FindingGroup) => void;
}

type Part = "questions" | "members" | "related" | "numbers";

/** One group: its series, what changed, and how its values are distributed; opened, its graph, numbers and next questions. */
export const GroupCard = memo(function GroupCard(props: GroupCardProps) {
  const { group, stat, place, wanted, isPinned, onPin } = props;
  const frame = useRef<HTMLLIElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [seen, setSeen] = useState<object | null>(null);
  if (wanted !== null && wanted !== seen) {
    setSeen(wanted);
    setOpen(true);
  }
  useEffect(() => {
    if (wanted !== null) {
      frame.current?.focus();
      frame.current?.scrollIntoView({ block: "center" });
    }
  }, [wanted]);
  const [strongest] = group.members;
  const title = `${props.hasManyHosts ? `${group.host} · ` : ""}${groupTitle(stat, group)}`;
  const Chevron = isOpen ? IconChevronUp : IconChevronDown;
  return (
    <li
      ref={frame}
      className="card finding"
      tabIndex={-1}
      data-finding={`${group.stat}.${group.field}`}
      data-pinned={isPinned}
      data-open={isOpen}
    >
      <div className="finding-head">
        <span className="finding-rank" aria-label="Rank">
          {group.rank}
        </span>
        <p className="finding-title">
          <PageLink fz="sm" to="/hosts/$host" params={{ host: group.host }} search={groupLink(group, place)} title={title}>
            {title}
          </PageLink>
        </p>
        <button
          type="button"
          className="card-icon"
          aria-pressed={isPinned}
          aria-label={`Pin ${title}`}
          title={isPinned ? "Pinned: stays on top, also in the link" : "Pin to the top, also in the link"}
          onClick={() => {
            onPin(groupKey(group));
          }}
        >
          {isPinned ? <IconPinnedFilled size={14} aria-hidden /> : <IconPin size={14} aria-hidden />}
        </button>
        <button
          type="button"
          className="card-icon"
          aria-expanded={isOpen}
          aria-label={`Details of ${title}`}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          <Chevron size={15} aria-hidden />
        </button>
      </div>
      <p className="finding-sentence" title={group.sentence}>
        {group.sentence}
      </p>
      <p className="finding-numbers">
        <Verdict mark={markOf(group)} />
        <span title="the change divided by what is natural in the baseline">
          <b>{describeChangeRatio(group.change_ratio, group.kind)}</b>
        </span>
        {group.certainty === "likely" && (
          <span className="answer-certainty" data-certainty="likely">
            likely
          </span>
        )}
      </p>
      {strongest && !isOpen && <GroupOverlay finding={strongest} unit={group.unit} label={title} />}
      {isOpen && <OpenedGroup {...props} title={title} />}
    </li>
  );
});

/** What an opened group adds: its graph over time, both sides in numbers, and what can be asked next. */
function OpenedGroup(props: GroupCardProps & { readonly title: string }) {
  const { group, stat, place, zone, align, mayMute, title, onMute } = props;
  const [open, setOpen] = useState<Part | null>(null);
  const [strongest] = group.members;
  const members = describeMembers(group, stat?.instance_title ?? "");
  const decimals = fieldOf(stat === null ? [] : [stat], group.stat, group.field)?.decimals ?? 2;
  const toggle = (part: Part, text: string) => (
    <button
      type="button"
      className="card-button"
      aria-expanded={open === part}
      onClick={() => {
        setOpen(open === part ? null : part);
      }}
    >
      {text}
    </button>
  );
  return (
    <>
      <p className="finding-numbers">
        <span className="soft">{SUBSYSTEM_LABELS[group.subsystem]}</span>
        <span className="kind-badge" title={KIND_WORDS[group.kind].help}>
          {KIND_WORDS[group.kind].label}
        </span>
        <Impact impact={group.impact} />
        {group.instances.length === 1 && (
          <ProcessLink
            host={group.host}
            stat={stat}
            instance={group.instances[0] ?? ""}
            at={{ window: place.window, clock: place.clock }}
          />
        )}
      </p>
      {strongest && (
        <>
          <p className="finding-sides">
            <Side kind="baseline" values={strongest.baseline} unit={group.unit} decimals={decimals} />
            <Side kind="incident" values={strongest.incident} unit={group.unit} decimals={decimals} />
          </p>
          <GroupSketch finding={strongest} unit={group.unit} align={align} zone={zone} label={title} />
        </>
      )}
      <p className="finding-actions no-print">
        {group.questions.length > 0 && toggle("questions", `Next questions (${String(group.questions.length)})`)}
        {members !== "" && toggle("members", members)}
        {group.related.length > 0 && toggle("related", `Changed together (${String(group.related.length)})`)}
        {toggle("numbers", "Numbers and meaning")}
        {mayMute && (
          <button
            type="button"
            className="card-button"
            onClick={() => {
              onMute(group);
            }}
          >
            Mute…
          </button>
        )}
      </p>
      {open !== null && (
        <div className="finding-more">
          {open === "questions" && <Questions questions={group.questions} />}
          {open === "members" && (
            <Members group={group} stat={stat} place={place} zone={zone} align={align} decimals={decimals} />
          )}
          {open === "related" && (
            <ul className="related" aria-label="Changed together">
              {group.related.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          )}
          {open === "numbers" && <Numbers group={group} stat={stat} decimals={decimals} />}
        </div>
      )}
    </>
  );
}

const ARROWS = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconArrowRight } as const;
const DIRECTIONS: Readonly<Record<Mark["arrow"], string>> = { up: "higher", down: "lower", same: "same level" };

function Verdict({ mark }: { readonly mark: Mark }) {
  const Arrow = ARROWS[mark.arrow];
  return (
    <span className="verdict" data-verdict={mark.verdict}>
      <Arrow size={15} aria-hidden />
      {mark.verdict === "changed" ? DIRECTIONS[mark.arrow] : `${DIRECTIONS[mark.arrow]} (${mark.verdict})`}
    </span>
  );
}

function Impact({ impact }: { readonly impact: number }) {
  return (
    <span className="impact" title="how much more or less of the host's total it is, 0 to 1">
      {nodes`Impact${(
        <span className="impact-bar" aria-hidden>
          <span style={{ width: percent(impact) }} />
        </span>
      )}${impact > 0 && impact < 0.01 ? `< ${formatScore(0.01)}` : formatScore(impact)}`}
    </span>
  );
}

interface SideProps {
  readonly kind: "baseline" | "incident";
  readonly values: SideValues;
  readonly unit: string;
  readonly decimals: number;
}

/** Median and band of one side, with its number of samples. */
function Side({ kind, values, unit, decimals }: SideProps) {
  const text = (value: number | null): string => formatWithUnit(value, computedDecimals(value, decimals), "");
  return (
    <span>
      <span className="side-name" data-kind={kind}>
        {kind}
      </span>{" "}
      {values.median === null ? (
        <span className="soft">{values.n === 0 ? "no samples" : counted(values.n, "sample")}</span>
      ) : (
        <>
          <b>{formatWithUnit(values.median, computedDecimals(values.median, decimals), unit)}</b>{" "}
          <span className="soft">{`(${text(values.p5)} to ${text(values.p95)}; ${counted(values.n, "sample")})`}</span>
        </>
      )}
    </span>
  );
}
