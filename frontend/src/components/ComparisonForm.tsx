import { Button, Collapse, Group, MultiSelect, Stack, Text } from "@mantine/core";
import { isNotEmpty, useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { hostGroupsQuery } from "../api/baselines";
import { baselinesQuery, hostsQuery } from "../api/queries";
import { type Against, type ComparisonInputs, groupsOfHosts, newestBaseline } from "../logic/against";
import { suggestedBaselines } from "../logic/range";
import type { Window } from "../logic/time";
import type { Zone } from "../logic/zone";
import { AgainstChoice } from "./AgainstChoice";
import { DivisorChoice } from "./DivisorChoice";
import { StateView } from "./StateView";
import { nullable } from "./useServerForm";
import { WindowInputs } from "./WindowInputs";

interface ComparisonFormProps {
  readonly hosts: readonly string[];
  readonly incident: Window;
  /** The initial choice; null selects the host's newest baseline. */
  readonly against: Against | null;
  readonly divisor: string | null;
  readonly zone: Zone;
  readonly onCompare: (inputs: ComparisonInputs) => void;
  readonly onCancel?: () => void;
}

/** The inputs of a comparison, with defaults that are usually right. */
export function ComparisonForm(props: ComparisonFormProps) {
  const { zone, onCompare, onCancel } = props;
  const form = useForm({
    initialValues: { hosts: props.hosts, incident: nullable(props.incident), against: props.against, divisor: props.divisor },
    validate: { hosts: isNotEmpty("Choose at least one host") },
    validateInputOnChange: ["hosts"],
  });
  const { hosts, incident, against: chosen, divisor } = form.values;
  const [isMore, more] = useDisclosure(props.divisor !== null || props.hosts.length > 1);
  const names = useQuery(hostsQuery).data?.hosts.map(({ name }) => name) ?? [];
  const groups = groupsOfHosts(useQuery(hostGroupsQuery).data?.groups ?? [], hosts);
  const [first = null] = hosts;
  const answer = useQuery({ ...baselinesQuery(first), enabled: first !== null });
  const baselines = (answer.data?.baselines ?? []).filter((baseline) => hosts.every((host) => baseline.hosts.includes(host)));
  const newest = newestBaseline(baselines);
  const usual = suggestedBaselines(props.incident)[0]?.window ?? props.incident;
  const offered: Against =
    newest === null ? { kind: "window", window: usual } : { kind: "baseline", id: newest.id, version: null };
  const isKnown = chosen?.kind !== "baseline" || baselines.some(({ id }) => id === chosen.id);
  const against = chosen !== null && isKnown ? chosen : offered;
  const isReady =
    first !== null &&
    incident !== null &&
    (against.kind !== "host" || against.host !== "") &&
    (against.kind !== "group" || against.group !== "");

  if (answer.isPending && first !== null) {
    return <StateView isCompact state={{ kind: "loading", what: "baselines" }} />;
  }
  return (
    <form
      onSubmit={form.onSubmit(() => {
        if (isReady) {
          onCompare({ hosts, incident, against, divisor });
        }
      })}
    >
      <Stack gap="sm">
        {answer.error && (
          <StateView isCompact state={{ kind: "error", error: answer.error, onRetry: () => void answer.refetch() }} />
        )}
        <MultiSelect
          size="xs"
          label="Hosts"
          searchable
          data={[...new Set([...names, ...hosts])]}
          {...form.getInputProps("hosts")}
        />
        <div>
          <Text fz="sm" fw={500} mb={2}>
            Incident: when did the problem occur?
          </Text>
          <WindowInputs window={props.incident} zone={zone} {...form.getInputProps("incident")} />
        </div>
        <AgainstChoice
          hosts={hosts}
          otherHosts={names.filter((name) => !hosts.includes(name))}
          groups={groups}
          incident={incident ?? props.incident}
          baselines={baselines}
          zone={zone}
          {...form.getInputProps("against")}
          against={against}
        />
        <div>
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={isMore}
            leftSection={isMore ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
            onClick={more.toggle}
          >
            Normalise by load: divide every series by another
          </Button>
          <Collapse expanded={isMore}>
            {isMore && <DivisorChoice host={first} divisor={divisor} {...form.getInputProps("divisor")} />}
          </Collapse>
        </div>
        <Group justify="flex-end">
          {onCancel && (
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Button type="submit" data-autofocus disabled={!isReady}>
            Compare
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
