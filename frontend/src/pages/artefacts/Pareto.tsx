import { Text } from "@mantine/core";
import type { ArtefactTable } from "../../logic/api";
import { formatShareCell, orderPlace, paretoBars } from "../../logic/artefact";
import { formatCount, formatWithUnit } from "../../logic/number";

const MAX_BARS = 12;

/** The first rows of a table as bars with their names, and how much of the whole they and those above them make. */
export function Pareto({ table }: { readonly table: ArtefactTable }) {
  const column = table.columns[orderPlace(table)];
  const bars = paretoBars(table, MAX_BARS);
  return (
    <figure className="pareto">
      <Text component="figcaption" fz="xs" className="soft">
        {`First ${formatCount(bars.length)} rows by ${column?.title ?? ""}, and their cumulative share`}
      </Text>
      <ol>
        {bars.map(({ name, value, width, cumulative }, row) => (
          <li key={`${name} ${String(row)}`}>
            <span className="pareto-name" title={name}>
              {name}
            </span>
            <span className="pareto-bar" aria-hidden>
              <i style={{ width: `${String(width * 100)}%` }} />
            </span>
            <span className="number">{formatWithUnit(value, column?.decimals ?? 0, column?.unit ?? "")}</span>
            <span className="number soft">{cumulative === null ? "" : formatShareCell(cumulative)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
