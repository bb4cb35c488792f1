import { Text } from "@mantine/core";
import type { ExperimentAnalysis, VariantScaling } from "../../logic/api";
import { describeFit, describeResiduals, extremeOf, leadOf } from "../../logic/experiment";
import { SCALING_MODEL_NAMES } from "../../state/experiment";

/** What the runs say: the sentence that matters, then every model with its parameters, its fit and its residuals. */
export function ScalingVerdict({ analysis }: { readonly analysis: ExperimentAnalysis }) {
  const extreme = extremeOf(analysis);
  return (
    <section className="card experiment-verdict" aria-label="What it says">
      <h2>What it says</h2>
      {extreme !== null && <p className="experiment-lead">{extreme}</p>}
      {analysis.steps.map(({ run, is_worse, sentence }) => (
        <p key={run} className="experiment-lead" data-tone={is_worse ? "limit" : "good"}>
          {sentence}
        </p>
      ))}
      {analysis.scaling.length === 0 ? (
        <Text fz="sm" className="soft">
          No model is fitted: the levels of the factor are not numbers
        </Text>
      ) : (
        analysis.scaling.map((scaling) => <VariantVerdict key={scaling.variant} analysis={analysis} scaling={scaling} />)
      )}
    </section>
  );
}

function VariantVerdict({ analysis, scaling }: { readonly analysis: ExperimentAnalysis; readonly scaling: VariantScaling }) {
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
      <ul className="experiment-models" aria-label="All models">
        {scaling.curves.map(({ fit }) => {
          const found = describeFit(fit, analysis.factor?.name ?? "", levels);
          return (
            <li key={fit.model}>
              <b>{SCALING_MODEL_NAMES[fit.model]}</b>
              {fit.model === scaling.best && <span className="soft"> (explains the runs best)</span>}: {found.text}.{" "}
              <span>{found.detail}</span>
              <br />
              <span className="soft">Measured against the model: {describeResiduals(fit)}</span>
            </li>
          );
        })}
        {scaling.refusals.map(({ model, reason }) => (
          <li key={model}>
            <b>{SCALING_MODEL_NAMES[model]}</b>: <span className="soft">Not fitted. {reason}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
