import { ActionIcon, Tooltip } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconArrowDownRight, IconArrowRight, IconArrowUpRight, IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useRef } from "react";
import { PageLink } from "../../components/PageLink";
import { useNear } from "../../components/useNear";
import type { Finding, StatInfo } from "../../logic/api";
import { computedDecimals, describeKind, fieldOf, type Mark, markOf, seriesTitle, SUMMARY_ROWS } from "../../logic/comparison";
import { formatCount, formatScore, formatValue, formatWithUnit } from "../../logic/number";
import type { Scheme } from "../../logic/palette";
import type { Window } from "../../logic/time";
import type { Clock } from "../../state/url";
import { seriesLink } from "./link";
import { Overlay } from "./Overlay";

interface FindingRowProps {
  readonly host: string;
  readonly finding: Finding;
  readonly stat: StatInfo | null;
  readonly incident: Window;
  readonly baselineWindow: Window | null;
  readonly scheme: Scheme;
  readonly clock: Clock;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** One series that differs: how, how much, and how it looks. */
export function FindingRow(props: FindingRowProps) {
  const { host, finding, stat, incident, baselineWindow, scheme, clock, isOpen, onToggle } = props;
  const frame = useRef<HTMLLIElement>(null);
  const isNear = useNear(frame);
  const { ref, width } = useElementSize();
  const field = fieldOf(stat === null ? [] : [stat], finding.stat, finding.field);
  const title = seriesTitle(stat, finding);
  return (
    <li className="card finding" ref={frame} data-open={isOpen} data-finding={`${finding.stat}.${finding.field}`}>
      <div className="finding-rank">
        <span aria-label="Rank">{finding.rank}</span>
        <ActionIcon size="sm" aria-label={isOpen ? "Fewer details" : "More details"} aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
        </ActionIcon>
      </div>
      <div className="finding-text">
        <PageLink fz="sm" to="/hosts/$host" params={{ host }} search={seriesLink(finding, incident, clock)}>
          {title}
        </PageLink>
        <p className="finding-sentence">{finding.sentence}</p>
        <p className="finding-numbers soft">
          <Verdict mark={markOf(finding)} />
          <Tooltip label="How many times further it moved than it does by itself in the baseline">
            <span>
              score <b>{formatScore(finding.score)}</b>
            </span>
          </Tooltip>
          <Tooltip label="Greatest distance between both distributions: 0 the same, 1 no overlap">
            <span>
              KS <b>{formatScore(finding.ks)}</b>
            </span>
          </Tooltip>
          <Tooltip label="How much of it there is, 0 to 1: a large share counts for more than a small number that changed">
            <span>
              impact <b>{formatScore(finding.impact)}</b>
            </span>
          </Tooltip>
          <span>
            moved: <b>{describeKind(finding.kind)}</b>
          </span>
        </p>
        <Values finding={finding} decimals={field?.decimals ?? 2} isOpen={isOpen} />
        {isOpen && (
          <p className="finding-help">
            {finding.help} <span className="soft">{field?.source}</span>
            <br />
            <span className="soft">
              Shift {formatWithUnit(finding.shift, computedDecimals(finding.shift, field?.decimals ?? 2), finding.unit)}; usual
              movement {formatWithUnit(finding.scale, (field?.decimals ?? 1) + 1, finding.unit)}.
            </span>
          </p>
        )}
      </div>
      <div className="finding-plot" ref={ref}>
        {isNear && width > 0 && (
          <Overlay
            host={host}
            finding={finding}
            field={field}
            incident={incident}
            baselineWindow={baselineWindow}
            scheme={scheme}
            width={width}
            label={title}
          />
        )}
      </div>
    </li>
  );
}

const VERDICTS: Readonly<Record<Mark["verdict"], string>> = { worse: "! worse", better: "✓ better", changed: "changed" };
const ARROWS = { up: IconArrowUpRight, down: IconArrowDownRight, same: IconArrowRight } as const;
const DIRECTIONS: Readonly<Record<Mark["arrow"], string>> = { up: "up", down: "down", same: "same level" };

function Verdict({ mark }: { readonly mark: Mark }) {
  const Arrow = ARROWS[mark.arrow];
  return (
    <span className="verdict" data-verdict={mark.verdict}>
      <Arrow size={15} aria-hidden />
      {DIRECTIONS[mark.arrow]}, {VERDICTS[mark.verdict]}
    </span>
  );
}

interface ValuesProps {
  readonly finding: Finding;
  readonly decimals: number;
  readonly isOpen: boolean;
}

/** Both sides' values, baseline first. */
function Values({ finding, decimals, isOpen }: ValuesProps) {
  const rows = SUMMARY_ROWS.filter(({ isMain }) => isMain || isOpen);
  return (
    <table className="values">
      <thead>
        <tr>
          <th scope="col" />
          {rows.map(({ key, label }) => (
            <th scope="col" key={key}>
              {label}
            </th>
          ))}
          <th scope="col">samples</th>
        </tr>
      </thead>
      <tbody>
        {(["baseline", "incident"] as const).map((side) => (
          <tr key={side}>
            <th scope="row" className="side-name" data-kind={side}>
              {side}
            </th>
            {rows.map(({ key, isMain }) => {
              const value = finding[side][key];
              return (
                <td key={key} data-main={isMain}>
                  {formatValue(value, computedDecimals(value, decimals))} <span className="soft">{finding.unit}</span>
                </td>
              );
            })}
            <td>{formatCount(finding[side].n)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
