import { api } from "../../api/client";
import { Button, Group, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ruleQuery } from "../../api/watch";
import { ErrorLine, PendingView } from "../../components/StateView";
import { useZone } from "../../components/zone";
import { copyOfRule, ruleNameOf } from "../../logic/rule_text";
import { clockOf, encodeClock } from "../../state/zone_choice";
import { UnsavedChanges } from "../../components/UnsavedChanges";
import { BacktestPanel } from "./BacktestPanel";
import { Explanation } from "./RulePage";
import "./watch.css";

/** Writes a rule. */
export function NewRulePage() {
  useDocumentTitle(`New rule · normstat`);
  return (
    <RuleEditor
      title="New rule"
      given={
        'format = 1\nname = "my-rule"\ntitle = "Busy CPUs"\nsubsystem = "cpu"\nversion = 1\nof = "cpu"\nabout = "What it means when this happens."\nsource = "Who says so"\n\n[inputs]\nidle = { meaning = "cpu.idle", unit = "%" }\n\n[limits]\nidle = { value = 5, unit = "%", source = "a first guess" }\n\n[[states]]\nstate = "amber"\nwhen = "idle < limit.idle"\nfor = "1 min"\naction = "What to do."\nexplanation = "The CPU has been busy for a minute."\n\n[[states]]\nstate = "green"\naction = "Nothing to do."\n'
      }
    />
  );
}

/** Edits a rule of a user's own, or a copy of a built-in one. */
export function EditRulePage() {
  const { rule } = useParams({ from: "/shell/watch/rules/$rule/edit" });
  useDocumentTitle(`${rule} · normstat`);
  // Do not replace the text being edited by a version saved meanwhile.
  const detail = useQuery({ ...ruleQuery(rule), refetchOnWindowFocus: false, refetchOnReconnect: false });
  if (detail.data === undefined) {
    return (
      <div className="page">
        <PendingView query={detail} what="the rule" />
      </div>
    );
  }
  const { info, toml } = detail.data;
  return <RuleEditor title={`Edit ${info.title}`} given={info.is_builtin ? copyOfRule(toml) : toml} />;
}

function RuleEditor({ title, given }: { readonly title: string; readonly given: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const clock = clockOf(useSearch({ strict: false }));
  const zone = useZone(clock);
  const [toml, setToml] = useState(given);
  const [isSaved, setSaved] = useState(false);
  const name = ruleNameOf(toml);
  const checking = useMutation({ mutationFn: () => api.POST("/rules/check", { body: { toml } }) });
  const saving = useMutation({
    mutationFn: () => api.PUT("/rules/{rule}", { body: { toml }, params: { path: { rule: name } } }),
    onSuccess: async () => {
      setSaved(true);
      await client.invalidateQueries({ queryKey: ["watch"] });
      await navigate({ to: "/watch/rules/$rule", params: { rule: name }, search: encodeClock(clock), ignoreBlocker: true });
    },
  });
  return (
    <div className="page page-narrow">
      <Stack gap="md">
        <div>
          <Title order={1}>{title}</Title>
          <Text fz="sm" className="soft">
            docs/rules.md explains the format. Change the name to save a copy.
          </Text>
        </div>
        <Paper className="card" p="md">
          <Textarea
            aria-label="Rule, in TOML"
            size="xs"
            autosize
            minRows={16}
            maxRows={36}
            spellCheck={false}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            value={toml}
            onChange={(event) => {
              setToml(event.currentTarget.value);
              checking.reset();
            }}
          />
          <Group gap="xs" mt="sm">
            <Button
              variant="default"
              loading={checking.isPending}
              onClick={() => {
                checking.mutate();
              }}
            >
              Check
            </Button>
            <Button
              loading={saving.isPending}
              onClick={() => {
                saving.mutate();
              }}
            >
              Save
            </Button>
            {checking.data && (
              <Text fz="sm" role="status">
                {`“${checking.data.title}” can be read.`}
              </Text>
            )}
          </Group>
          <ErrorLine error={saving.error ?? checking.error} />
        </Paper>
        {checking.data && <Explanation text={checking.data} />}
        <BacktestPanel toml={toml} rule={name} zone={zone} />
      </Stack>
      <UnsavedChanges name={name} isUnsaved={!isSaved && toml !== given} />
    </div>
  );
}
