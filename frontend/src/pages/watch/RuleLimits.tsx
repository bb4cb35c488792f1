import { api } from "../../api/client";
import { ActionIcon, Code, NumberInput, Paper, SegmentedControl, Select, Table, Text, TextInput, Title } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { mayWrite, useMe } from "../../components/me";
import { ErrorLine } from "../../components/StateView";
import type { RuleDetail, RuleReading } from "../../logic/api";
import { ReasonField } from "../../components/NameAndNote";
import { ScrollCard } from "../../components/ScrollCard";
import { LABEL_HEIGHT, RowForm } from "../../components/RowForm";

/** What a limit is set for. */
const PLACES = ["host", "group", "tag"] as const;

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
  const client = useQueryClient();
  const [name, setName] = useState(limits[0]?.name ?? "");
  const [value, setValue] = useState<number | string>("");
  const [kind, setKind] = useState<(typeof PLACES)[number]>("host");
  const [place, setPlace] = useState("");
  const [reason, setReason] = useState("");
  const setting = useMutation({
    mutationFn: () =>
      api.POST("/rules/{rule}/limits", {
        body: { name, value: Number(value), reason, [kind]: place },
        params: { path: { rule: detail.info.name } },
      }),
    onSuccess: async () => {
      setPlace("");
      setReason("");
      await client.invalidateQueries({ queryKey: ["watch", "rule", detail.info.name] });
    },
  });
  return (
    <>
      <Text fz="sm" fw={600} mt="md" mb={4}>
        Other limits for some hosts
      </Text>
      <RowForm
        action="Set"
        isMinor
        isReady={place !== "" && value !== ""}
        isPending={setting.isPending}
        error={setting.error}
        onSubmit={() => {
          setting.mutate();
        }}
      >
        <Select
          size="xs"
          w={130}
          label="Limit"
          allowDeselect={false}
          value={name}
          data={limits.map((limit) => limit.name)}
          onChange={(chosen) => {
            setName(chosen ?? "");
          }}
        />
        <NumberInput size="xs" w={110} label="Value" value={value} onChange={setValue} />
        <SegmentedControl
          mt={LABEL_HEIGHT}
          size="xs"
          aria-label="Host, group or tag"
          value={kind}
          data={[
            { value: "host", label: "For a host" },
            { value: "group", label: "For a host group" },
            { value: "tag", label: "For the hosts with a tag" },
          ]}
          onChange={(chosen) => {
            setKind(PLACES.find((each) => each === chosen) ?? "host");
          }}
        />
        <TextInput
          size="xs"
          w={150}
          label="Host, group or tag"
          value={place}
          onChange={(event) => {
            setPlace(event.currentTarget.value);
          }}
        />
        <ReasonField size="xs" w={220} value={reason} onChange={setReason} />
      </RowForm>
    </>
  );
}
