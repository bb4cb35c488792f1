import { CloseButton, TextInput } from "@mantine/core";
import { IconZoomQuestion } from "@tabler/icons-react";
import type { ComparisonInputs } from "../../logic/against";
import type { Comparison } from "../../logic/api";
import type { ComparisonView } from "../../state/comparison";
import type { Place } from "./link";
import { SeriesTable } from "./SeriesTable";

interface AskSeriesProps {
  readonly comparison: Comparison;
  readonly inputs: ComparisonInputs;
  readonly view: ComparisonView;
  readonly place: Place;
  readonly onChange: (change: Partial<ComparisonView>, isNew: boolean) => void;
}

/** Search any series of the comparison, ranked or not, and see its verdict with the reason. */
export function AskSeries({ comparison, inputs, view, place, onChange }: AskSeriesProps) {
  return (
    <search className="ask-series no-print" aria-label="Ask about a metric">
      <TextInput
        size="sm"
        w={420}
        maw="100%"
        aria-label="Ask about a metric"
        placeholder="Ask about a metric: util, sda await, nginx…"
        leftSection={<IconZoomQuestion size={16} aria-hidden />}
        rightSection={
          view.ask === "" ? null : (
            <CloseButton
              size="sm"
              aria-label="Clear the question"
              onClick={() => {
                onChange({ ask: "" }, false);
              }}
            />
          )
        }
        maxLength={200}
        value={view.ask}
        onChange={(event) => {
          onChange({ ask: event.currentTarget.value }, false);
        }}
      />
      {view.ask.trim() !== "" && (
        <div className="ask-answer">
          <SeriesTable
            comparison={comparison}
            inputs={inputs}
            place={place}
            label="Series that were asked for"
            search={view.ask}
            verdicts={[]}
            sort="significance"
            nothing="The comparison has no series"
          />
        </div>
      )}
    </search>
  );
}
