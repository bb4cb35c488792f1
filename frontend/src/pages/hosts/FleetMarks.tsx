import { Tooltip } from "@mantine/core";
import type { FleetLine } from "../../logic/api";
import { bandBox, CELL_HEIGHTS, describeLine, describeRibbon, formatShort, pathOf, runsOf } from "../../logic/fleet";

const WIDTH = 58;
const HEIGHT = 24;

/** The last hour of a host, a cell for each minute: higher and warmer is more unusual. */
export function Ribbon({ ribbon }: { readonly ribbon: string }) {
  const words = describeRibbon(ribbon);
  return (
    <Tooltip label={words}>
      <svg className="fleet-ribbon" viewBox="0 0 60 1" preserveAspectRatio="none" role="img" aria-label={words}>
        {runsOf(ribbon).map(({ cell, start, length }) => (
          <rect key={start} data-cell={cell} x={start} y={1 - CELL_HEIGHTS[cell]} width={length} height={CELL_HEIGHTS[cell]} />
        ))}
      </svg>
    </Tooltip>
  );
}

/** A resource in the last hour over its band, with its value now. */
export function Spark({ line }: { readonly line: FleetLine | null }) {
  if (line === null) {
    return <span className="soft fleet-none">–</span>;
  }
  const words = describeLine(line);
  const band = bandBox(line, HEIGHT);
  return (
    <Tooltip label={words}>
      <span className="fleet-spark" data-level={line.level}>
        <svg width={WIDTH} height={HEIGHT} viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} role="img" aria-label={words}>
          {band && <rect className="fleet-band" x={0} y={band.y} width={WIDTH} height={band.height} />}
          <path d={pathOf(line.heights, WIDTH, HEIGHT)} />
        </svg>
        <span className="fleet-now" aria-hidden>
          {formatShort(line.now, line.unit)}
        </span>
      </span>
    </Tooltip>
  );
}
