import { api } from "../../api/client";
import { ActionIcon, Code, NumberInput, Paper, SegmentedControl, Select, Table, Text, TextInput, Title } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { mayWrite, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import type { RuleDetail, RuleReading } from "../../logic/api";
import { ReasonField } from "../../components/NameAndNote";
import { ScrollCard } from "../../components/ScrollCard";
import { LABEL_HEIGHT, RowForm } from "../../components/RowForm";
import { useServerForm } from "../../components/useServerForm";

interface RuleLimitsProps {
  readonly detail: RuleDetail;
  readonly limits: RuleReading["limits"];
}

/** The numbers that a rule compares with, and those of some hosts in their place. */
export function RuleLimits({ detail, limits }: RuleLimitsProps) {
  const me = useMe();
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries({ queryKey: ["watch", "rule", detail.info.name] });
  const removing = useMutation({
    mutationFn: (id: number) => api.DELETE("/rule-limits/{id}", { params: { path: { id } } }),
    onSuccess,
  });
  return (
    <Paper className="card" p="md">
      <Title order={2} fz="md" mb="xs">
        Limits
      </Title>
      <ScrollCard label="Limits">
        <Table aria-label="Limits">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Limit</Table.Th>
              <Table.Th className="number">Value</Table.Th>
              <Table.Th>Where it comes from</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {limits.map(({ name, value, unit, source }) => (
              <Table.Tr key={name}>
                <Table.Td>
                  <Code>{name}</Code>
                </Table.Td>
                <Table.Td className="number">
                  {value} {unit}
                </Table.Td>
                <Table.Td>{source}</Table.Td>
                <Table.Td />
              </Table.Tr>
            ))}
            {detail.limits.map(({ id, name, value, host, tag, group, reason, created_by }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <Code>{name}</Code> {host ?? (group === null ? `tag ${tag ?? ""}` : `group ${group}`)}
                </Table.Td>
                <Table.Td className="number">{value}</Table.Td>
                <Table.Td>
                  {reason} ({created_by})
                </Table.Td>
                <Table.Td>
                  {mayWrite(me) && (
                    <ActionIcon
                      aria-label={`Remove the limit ${name}`}
                      onClick={() => {
                        removing.mutate(id);
                      }}
                    >
                      <IconTrash size={15} />
                    </ActionIcon>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollCard>
      <ErrorLine error={removing.error} />
      {mayWrite(me) && <LimitForm detail={detail} limits={limits} />}
    </Paper>
  );
}

function LimitForm({ detail, limits }: RuleLimitsProps) {
  const { form, submission } = useServerForm({
    initialValues: { name: limits[0]?.name ?? "", value: "", kind: "host", place: "", reason: "" },
    validate: { value: isNotEmpty("Enter a number"), place: isNotEmpty("Enter a name") },
    send: ({ name, value, reason, kind, place }) =>
      api.POST("/rules/{rule}/limits", {
        body: { name, value: Number(value), reason, [kind]: place },
        params: { path: { rule: detail.info.name } },
      }),
    renews: [["watch", "rule", detail.info.name]],
    onSaved: (_, { resetField }) => {
      resetField("place");
      resetField("reason");
    },
  });
  return (
    <>
      <Text fz="sm" fw={600} mt="md" mb={4}>
        Other limits for some hosts
      </Text>
      <RowForm {...submission} action="Set" isMinor>
        <Select
          size="xs"
          w={130}
          label="Limit"
          allowDeselect={false}
          data={limits.map((limit) => limit.name)}
          {...form.getInputProps("name")}
        />
        <NumberInput size="xs" w={110} label="Value" {...form.getInputProps("value")} />
        <SegmentedControl
          mt={LABEL_HEIGHT}
          size="xs"
          aria-label="Host, group or tag"
          data={[
            { value: "host", label: "For a host" },
            { value: "group", label: "For a host group" },
            { value: "tag", label: "For the hosts with a tag" },
          ]}
          value={form.values.kind}
          onChange={(kind) => {
            form.setFieldValue("kind", kind);
          }}
        />
        <TextInput size="xs" w={150} label="Host, group or tag" {...form.getInputProps("place")} />
        <ReasonField size="xs" w={220} {...form.getInputProps("reason")} />
      </RowForm>
    </>
  );
}
