import { api } from "../../api/client";
import { Anchor, Button, Group, Paper, Stack, Text, Textarea, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { ruleQuery } from "../../api/watch";
import { ErrorLine, PendingView } from "../../components/StateView";
import { nodes } from "../../components/nodes";
import { useZone } from "../../components/zone";
import { formatRule, NEW_RULE, parseRule, type RuleForm, ruleProblems } from "../../logic/rule_form";
import { copyOfRule, ruleNameOf } from "../../logic/rule_text";
import { clockOf, encodeClock } from "../../state/zone_choice";
import { UnsavedChanges } from "../../components/UnsavedChanges";
import { BacktestPanel } from "./BacktestPanel";
import { RuleFields } from "./RuleFields";
import { Explanation } from "./RulePage";
import "./watch.css";

/** Writes a rule. */
export function NewRulePage() {
  useDocumentTitle(`New rule · normstat`);
  return <RuleEditor title="New rule" given={formatRule(NEW_RULE)} />;
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
  const [isSimple, setSimple] = useState(() => parseRule(given) !== null);
  const [isTextOpen, setTextOpen] = useState(!isSimple);
  const name = ruleNameOf(toml);
  const checking = useMutation({ mutationFn: () => api.POST("/rules/check", { body: { toml } }) });
  // The text is what is saved: the form writes it, and reads it again when it was edited by hand.
  const form = useForm<RuleForm>({ initialValues: parseRule(given) ?? NEW_RULE, validate: ruleProblems });
  const { values, setValues } = form;
  const written = useRef(values);
  const isFromText = useRef(false);
  useEffect(() => {
    if (written.current !== values && !isFromText.current) {
      setToml(formatRule(values));
    }
    written.current = values;
    isFromText.current = false;
  }, [values]);
  const saving = useMutation({
    mutationFn: () => api.PUT("/rules/{rule}", { body: { toml }, params: { path: { rule: name } } }),
    onSuccess: async () => {
      setSaved(true);
      await client.invalidateQueries({ queryKey: ["watch"] });
      await navigate({ to: "/watch/rules/$rule", params: { rule: name }, search: encodeClock(clock), ignoreBlocker: true });
    },
  });
  const ifComplete = (action: () => void) => () => {
    if (!isSimple || !form.validate().hasErrors) {
      action();
    }
  };
  return (
    <div className="page page-narrow">
      <Stack gap="md">
        <Title order={1}>{title}</Title>
        <Paper className="card" p="md">
          {isSimple ? (
            <RuleFields form={form} />
          ) : (
            <Text fz="sm" role="status">
              {nodes`This rule has several inputs or conditions that the form cannot show. Edit it as text; ${(
                <Anchor href="/docs/rules" target="_blank" fz="inherit" underline="always">
                  Rules
                </Anchor>
              )} in the documentation explains the format.`}
            </Text>
          )}
          <Button
            mt="sm"
            variant="subtle"
            color="gray"
            size="compact-sm"
            aria-expanded={isTextOpen}
            leftSection={isTextOpen ? <IconChevronDown size={15} aria-hidden /> : <IconChevronRight size={15} aria-hidden />}
            onClick={() => {
              setTextOpen(!isTextOpen);
            }}
          >
            Text (TOML)
          </Button>
          {isTextOpen && (
            <Textarea
              mt="xs"
              aria-label="Rule, in TOML"
              size="xs"
              autosize
              minRows={16}
              maxRows={36}
              spellCheck={false}
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
              value={toml}
              onChange={(event) => {
                const text = event.currentTarget.value;
                const parsed = parseRule(text);
                setToml(text);
                setSimple(parsed !== null);
                if (parsed !== null) {
                  isFromText.current = true;
                  setValues(parsed);
                }
                checking.reset();
              }}
            />
          )}
          <Group gap="xs" mt="sm">
            <Button
              variant="default"
              loading={checking.isPending}
              onClick={ifComplete(() => {
                checking.mutate();
              })}
            >
              Check
            </Button>
            <Button
              loading={saving.isPending}
              onClick={ifComplete(() => {
                saving.mutate();
              })}
            >
              Save
            </Button>
            {checking.data && (
              <Text fz="sm" role="status">
                {`“${checking.data.title}” is valid.`}
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
