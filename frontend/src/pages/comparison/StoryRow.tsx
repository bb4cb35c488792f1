import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useId, useState } from "react";
import { flushSync } from "react-dom";
import { PageLink } from "../../components/PageLink";
import type { Comparison, FindingGroup, StatInfo, Story, StoryProcess } from "../../logic/api";
import { groupTitle, statOf } from "../../logic/comparison";
import { groupKey } from "../../logic/group";
import { drawnLine, leadingLine, lineTitle } from "../../logic/ledger";
import { formatCount } from "../../logic/number";
import {
  describeExactly,
  describeOnset,
  describeProcess,
  describeSentence,
  drawnGroup,
  groupsOf,
  MAX_ALSO,
  MAX_CARDS,
  processFields,
  type Ranked,
} from "../../logic/story";
import type { Zone } from "../../logic/zone";
import type { Alignment } from "../../state/comparison";
import { changeId, GroupCard } from "./GroupCard";
import { GroupSketch } from "./GroupSketch";
import { type Place, processLink } from "./link";
import { counted } from "../../logic/counted";
import { nodes } from "../../components/nodes";

interface StoryRowProps {
  readonly story: Story;
  readonly ranked: Ranked;
  readonly ledger: Comparison["ledger"];
  readonly stats: readonly StatInfo[];
  readonly place: Place;
  readonly zone: Zone;
  readonly align: Alignment;
  readonly hasManyHosts: boolean;
  readonly mayMute: boolean;
  readonly onMute: (group: FindingGroup) => void;
}

/** One story: what happened, since when, who did it; on opening its evidence and its groups. */
export function StoryRow(props: StoryRowProps) {
  const { story, ranked, place, zone } = props;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const onset = describeOnset(story.onset_ms, place.window, zone);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <li className="card story" data-story={story.topic}>
      <span className="story-rank" aria-label="Rank">
        {story.rank}
      </span>
      <div className="story-text">
        <p className="story-head">
          <button
            type="button"
            className="story-toggle"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => {
              setOpen(!isOpen);
            }}
          >
            <Chevron size={15} aria-hidden />
            {story.title}
          </button>
          {onset && <span className="soft">{nodes`began ${<b>{onset.at}</b>}, ${onset.into}`}</span>}
          {props.hasManyHosts && <span className="soft">{`on ${story.hosts.join(", ")}`}</span>}
        </p>
        <p className="story-sentence" title={describeSentence(story, ranked)}>
          {story.sentence}
        </p>
        <Chips {...props} isOpen={isOpen} />
      </div>
      <StoryPlot {...props} />
      <div className="story-more" id={id} hidden={!isOpen}>
        {isOpen && <Evidence {...props} />}
      </div>
    </li>
  );
}

/** What the sentence is about: the total of the ledger's line that leads it, else a group of the story. */
function StoryPlot({ story, ranked, ledger, stats, zone, align }: StoryRowProps) {
  const line = leadingLine(story, ledger);
  const group = line === null ? drawnGroup(story, ranked) : null;
  const drawn = line === null ? group?.members[0] && { ...group.members[0], unit: group.unit } : drawnLine(line);
  if (drawn === undefined) {
    return null;
  }
  const label = line === null ? group && groupTitle(statOf(stats, group.stat), group) : lineTitle(line);
  return (
    <div className="story-plot">
      <p className="soft">{label}</p>
      <GroupSketch finding={drawn} unit={drawn.unit} align={align} zone={zone} label={label ?? ""} />
    </div>
  );
}

/** The processes, linked to their pages, and the other tools that saw the same. */
function Chips({ story, ranked, stats, place, zone, isOpen }: StoryRowProps & { readonly isOpen: boolean }) {
  const also = isOpen ? story.also_seen_by : story.also_seen_by.slice(0, MAX_ALSO);
  const n_more = story.also_seen_by.length - also.length;
  const link = (process: StoryProcess) =>
    processLink(
      process,
      statOf(stats, process.stat),
      processFields(process, [...ranked.values()], statOf(stats, process.stat)),
      place,
    );
  return story.processes.length + also.length === 0 ? null : (
    <div className="story-chips">
      {story.processes.length > 0 && (
        <ul className="chips" aria-label="Processes">
          {story.processes.map((process) => (
            <li key={`${process.host} ${process.stat} ${process.instance}`}>
              <PageLink
                className="chip story-process"
                data-change={process.change}
                to="/hosts/$host"
                params={{ host: process.host }}
                search={link(process)}
                title={process.origin === "" ? process.sentence : `${process.sentence}. ${process.origin}`}
              >
                <b>{process.name}</b> {describeProcess(process, place.window, zone)}
              </PageLink>
            </li>
          ))}
        </ul>
      )}
      {also.length > 0 && (
        <ul className="chips" aria-label="Also seen by">
          <li className="soft" aria-hidden>
            also seen by
          </li>
          {also.map((name) => (
            <li key={name} className="chip-plain">
              {name}
            </li>
          ))}
          {n_more > 0 && <li className="soft">{`and ${formatCount(n_more)} more`}</li>}
        </ul>
      )}
    </div>
  );
}

/** The clauses in the order of cause and effect, each leading to its group; then the groups. */
function Evidence({ story, ranked, stats, place, zone, align, hasManyHosts, mayMute, onMute }: StoryRowProps) {
  const [hasAll, setAll] = useState(false);
  const groups = groupsOf(story, ranked);
  const shown = hasAll ? groups : groups.slice(0, MAX_CARDS);
  const n_missing = story.ranks.length - groups.length;
  const lead = (rank: number): void => {
    if (!shown.some((group) => group.rank === rank)) {
      flushSync(() => {
        setAll(true);
      });
    }
    document.getElementById(changeId(rank))?.focus();
  };
  return (
    <>
      <ul className="story-evidence" aria-label="Evidence">
        {story.processes.map((process) => (
          <li key={`${process.host} ${process.stat} ${process.instance}`}>
            {process.sentence}
            {process.origin !== "" && <span className="soft"> ({process.origin})</span>}
          </li>
        ))}
        {story.lines.map(({ rank, role, text }) => {
          const group = ranked.get(rank);
          return (
            <li key={rank} data-role={role}>
              {group === undefined ? (
                text
              ) : (
                <a
                  href={`#${changeId(rank)}`}
                  title={describeExactly(group)}
                  onClick={(event) => {
                    event.preventDefault();
                    lead(rank);
                  }}
                >
                  {text}
                </a>
              )}
            </li>
          );
        })}
      </ul>
      <ol className="findings" aria-label="Changes of this story">
        {shown.map((group) => (
          <GroupCard
            key={groupKey(group)}
            group={group}
            stat={statOf(stats, group.stat)}
            place={place}
            zone={zone}
            align={align}
            isPinned={false}
            hasManyHosts={hasManyHosts}
            mayMute={mayMute}
            onPin={null}
            onMute={onMute}
          />
        ))}
      </ol>
      {shown.length < groups.length && (
        <button
          type="button"
          className="card-button story-all"
          onClick={() => {
            setAll(true);
          }}
        >
          {`Show all ${formatCount(groups.length)} changes`}
        </button>
      )}
      {n_missing > 0 && <p className="soft">{`${counted(n_missing, "weaker change")} of this story are not in the result.`}</p>}
    </>
  );
}
