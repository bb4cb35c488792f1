import { Text } from "@mantine/core";
import type { ExperimentAnalysis, VariantScaling } from "../../logic/api";
import { describeFit, describeResiduals, extremeOf, leadOf } from "../../logic/experiment";
import { words } from "../../words";

/** What the runs say: the sentence that matters, then every model with its parameters, its fit and its residuals. */
export function ScalingVerdict({ analysis }: { readonly analysis: ExperimentAnalysis }) {
  const say = words.experiments.verdict;
  const extreme = extremeOf(analysis);
  return (
    <section className="card experiment-verdict" aria-label={say.heading}>
      <h2>{say.heading}</h2>
      {extreme !== null && <p className="experiment-lead">{extreme}</p>}
      {analysis.scaling.length === 0 ? (
        <Text fz="sm" className="soft">
          {say.noModel}
        </Text>
      ) : (
        analysis.scaling.map((scaling) => <VariantVerdict key={scaling.variant} analysis={analysis} scaling={scaling} />)
      )}
    </section>
  );
}

function VariantVerdict({ analysis, scaling }: { readonly analysis: ExperimentAnalysis; readonly scaling: VariantScaling }) {
  const say = words.experiments.verdict;
  const names = words.experiments.chart.modelNames;
  const lead = leadOf(analysis, scaling);
  const levels = analysis.levels.filter(({ variant }) => variant === scaling.variant);
  return (
    <div>
      {scaling.variant !== "" && (
        <Text fz="sm" fw={600} mt={8}>
          {analysis.variant?.name}={scaling.variant}
        </Text>
      )}
      <p className="experiment-lead" data-tone={lead.tone}>
        {lead.text}
      </p>
      <Text fz="sm">{lead.detail}</Text>
      <ul className="experiment-models" aria-label={say.otherModels}>
        {scaling.curves.map(({ fit }) => {
          const found = describeFit(fit, analysis.factor?.name ?? "", levels);
          return (
            <li key={fit.model}>
              <b>{names[fit.model]}</b>
              {fit.model === scaling.best && <span className="soft"> ({say.best})</span>}: {found.text}.{" "}
              <span>{found.detail}</span>
              <br />
              <span className="soft">
                {say.residuals}: {describeResiduals(fit)}
              </span>
            </li>
          );
        })}
        {scaling.refusals.map(({ model, reason }) => (
          <li key={model}>
            <b>{names[model]}</b>:{" "}
            <span className="soft">
              {say.notFitted}. {reason}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
