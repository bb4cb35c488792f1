import { Anchor, CopyButton, Tooltip } from "@mantine/core";
import { Fragment } from "react";
import { CopyBox } from "../../components/CopyBox";
import { PageLink } from "../../components/PageLink";
import { ProcessLink } from "../../components/ProcessLink";
import type { Command, Finding, FindingGroup, Question, StatInfo } from "../../logic/api";
import { computedDecimals, describeMedians, fieldOf, memberNames, SUMMARY_ROWS } from "../../logic/comparison";
import { describeRatios, KIND_WORDS } from "../../logic/group";
import { formatCount, formatScore, formatShare, formatValue } from "../../logic/number";
import type { Zone } from "../../logic/zone";
import type { Alignment } from "../../state/comparison";
import { GroupSketch } from "./GroupSketch";
import { type Place, seriesLink } from "./link";
import { nodes } from "../../components/nodes";

/** The next questions, with commands for the host. */
export function Questions({ questions }: { readonly questions: readonly Question[] }) {
  return (
    <div className="questions">
      {questions.map(({ why, commands }) => (
        <section key={why}>
          <h3>{why}</h3>
          {commands.map((command) => (
            <CommandBox key={command.command} command={command} />
          ))}
        </section>
      ))}
    </div>
  );
}

function CommandBox({ command: { command, note, needs, source, keep } }: { readonly command: Command }) {
  return (
    <div className="question-command">
      <CopyBox text={command} what={`the command ${command}`} />
      <p>
        {needs !== "" && <span className="needs">{`needs ${needs}`}</span>} {note}{" "}
        {source !== "" && (
          <span className="soft">
            Source:{" "}
            {source.startsWith("https://") ? (
              <a href={source} target="_blank" rel="noreferrer">
                {source}
              </a>
            ) : (
              source
            )}
          </span>
        )}{" "}
        {keep !== "" && (
          <CopyButton value={keep}>
            {({ copied, copy }) => (
              <Tooltip label={keep} multiline maw={520} styles={{ tooltip: { overflowWrap: "anywhere" } }}>
                <Anchor component="button" type="button" fz="inherit" onClick={copy}>
                  {copied ? "copied" : "Copy it with normstat-agent put, which keeps the answer here"}
                </Anchor>
              </Tooltip>
            )}
          </CopyButton>
        )}
      </p>
    </div>
  );
}

interface MembersProps {
  readonly group: FindingGroup;
  readonly stat: StatInfo | null;
  readonly place: Place;
  readonly zone: Zone;
  readonly align: Alignment;
  readonly decimals: number;
}

/** The instances of a group, strongest first: with graphs if the result has them, otherwise by name. */
export function Members({ group, stat, place, zone, align, decimals }: MembersProps) {
  const { rest, n_unnamed } = memberNames(group);
  const link = (instance: string) => (
    <PageLink fz="sm" to="/hosts/$host" params={{ host: group.host }} search={seriesLink({ ...group, instance }, place)}>
      {instance === "" ? group.column : instance}
    </PageLink>
  );
  return (
    <>
      <ul className="members" aria-label="Strongest instances">
        {group.members.map((member) => (
          <li key={member.instance}>
            <p>
              {link(member.instance)}{" "}
              <ProcessLink
                host={group.host}
                stat={stat}
                instance={member.instance}
                at={{ window: place.window, clock: place.clock }}
              />{" "}
              <span className="soft">
                {`${KIND_WORDS[member.kind].label}, change ratio ${formatScore(member.change_ratio)}; median ${describeMedians(member, decimals, group.unit)}`}
              </span>
            </p>
            <GroupSketch
              finding={member}
              unit={group.unit}
              align={align}
              zone={zone}
              label={`${group.column} ${member.instance}`}
            />
          </li>
        ))}
      </ul>
      {rest.length > 0 && (
        <p className="member-names">
          <span className="soft">Also, less: </span>
          {rest.map((instance) => (
            <Fragment key={instance}>{link(instance)} </Fragment>
          ))}
          {n_unnamed > 0 && <span className="soft">{`and ${formatCount(n_unnamed)} more`}</span>}
        </p>
      )}
    </>
  );
}

interface NumbersProps {
  readonly group: FindingGroup;
  readonly stat: StatInfo | null;
  readonly decimals: number;
}

/** Both sides in numbers, the change ratios, and the meaning of the field. */
export function Numbers({ group, stat, decimals }: NumbersProps) {
  const [strongest] = group.members;
  const field = fieldOf(stat === null ? [] : [stat], group.stat, group.field);
  return (
    <>
      {strongest && <Values finding={strongest} unit={group.unit} decimals={decimals} />}
      {strongest && (
        <p>
          {nodes`${strongest.sentence} Change: ${formatScore(strongest.change)}; natural change: ${formatScore(strongest.change_scale)}. ${
            strongest.explained_by_load > 0 && `The load explains ${formatShare(strongest.explained_by_load)} of it. `
          }Change ratios: ${describeRatios({ ...strongest.change_ratios })}. Kind “${KIND_WORDS[group.kind].label}”: ${KIND_WORDS[group.kind].help}. Significance ${formatScore(group.significance)}, anomaly score ${formatScore(group.anomaly_score)} (groups are ranked by it).`}
        </p>
      )}
      <p>
        {group.help} <span className="soft">{field?.source}</span>
      </p>
    </>
  );
}

/** Both sides' values of the strongest member, baseline first. */
function Values({ finding, unit, decimals }: { readonly finding: Finding; readonly unit: string; readonly decimals: number }) {
  return (
    <table className="values">
      <thead>
        <tr>
          <th scope="col">{finding.instance}</th>
          {SUMMARY_ROWS.map(({ key, label }) => (
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
            {SUMMARY_ROWS.map(({ key, isMain }) => {
              const value = finding[side][key];
              return (
                <td key={key} data-main={isMain}>
                  {formatValue(value, computedDecimals(value, decimals))}
                  {value !== null && <span className="soft"> {unit}</span>}
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
