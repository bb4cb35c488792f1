import { useEffect, useRef } from "react";
import type { Figure } from "./figure";

interface PlotProps {
  readonly figure: Figure;
  /** What the graph shows, for people who cannot see it. */
  readonly label: string;
}

type Plotly = typeof import("./plotly").plotly;

let loading: Promise<Plotly> | null = null;

function loadPlotly(): Promise<Plotly> {
  loading ??= import("./plotly").then(({ plotly }) => plotly);
  return loading;
}

/**
 * Owns the node that Plotly draws into. Plotly only draws here: pointing, dragging and the crosshair are our own layer above
 * (components/TimeSurface), so there is no relayout whose echo must be dropped.
 */
export function Plot({ figure, label }: PlotProps) {
  const node = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let isCurrent = true;
    void loadPlotly().then((plotly) => {
      // A figure that was replaced while Plotly was on its way is not drawn any more.
      if (isCurrent && node.current !== null) {
        void plotly.react(node.current, figure.data, figure.layout, {
          staticPlot: true,
          displayModeBar: false,
          responsive: false,
        });
      }
    });
    return () => {
      isCurrent = false;
    };
  }, [figure]);

  useEffect(() => {
    const owned = node.current;
    return () => {
      if (owned !== null && loading !== null) {
        void loading.then((plotly) => {
          plotly.purge(owned);
        });
      }
    };
  }, []);

  return <div ref={node} role="img" aria-label={label} style={{ width: figure.layout.width, height: figure.layout.height }} />;
}
