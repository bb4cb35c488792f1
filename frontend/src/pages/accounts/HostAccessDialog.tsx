import { api } from "../../api/client";
import { MultiSelect, Radio, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { usersQuery } from "../../api/accounts";
import { hostGroupsQuery } from "../../api/baselines";

import { FormDialog } from "../../components/FormDialog";
import { ErrorLine } from "../../components/StateView";
import { useServerForm } from "../../components/useServerForm";
import type { UserInfo } from "../../logic/api";
import { counted } from "../../logic/counted";

interface HostAccessDialogProps {
  readonly user: UserInfo;
  readonly onClose: () => void;
}

/** Says which hosts an account sees: all of them, or those of some host groups. */
export function HostAccessDialog({ user, onClose }: HostAccessDialogProps) {
  const groups = useQuery(hostGroupsQuery);
  const { form, submission } = useServerForm({
    initialValues: { scope: user.host_groups === null ? "all" : "groups", host_groups: user.host_groups ?? [] },
    send: ({ scope, host_groups }) =>
      api.PATCH("/users/{name}", {
        body: { host_groups: scope === "groups" ? host_groups : null },
        params: { path: { name: user.name } },
      }),
    renews: [usersQuery.queryKey],
    onSaved: onClose,
  });
  const { scope, host_groups: chosen } = form.values;
  const known = groups.data?.groups ?? [];
  return (
    <FormDialog {...submission} title={`Hosts of ${user.name}`} onClose={onClose}>
      <Radio.Group aria-label={`Hosts of ${user.name}`} {...form.getInputProps("scope")}>
        <Stack gap="xs">
          <Radio size="xs" value="all" label="All hosts" />
          <Radio
            size="xs"
            value="groups"
            label="Only the hosts of host groups"
            description="The account sees these hosts and what belongs to them: samples, baselines, events, alerts. It cannot change anything that also covers other hosts, nor rules, host groups or the server."
          />
        </Stack>
      </Radio.Group>
      {scope === "groups" && (
        <>
          <MultiSelect
            size="xs"
            searchable
            label="Host groups"
            placeholder={chosen.length === 0 ? "No group: the account sees no host" : ""}
            data={known.map(({ name, hosts }) => ({ value: name, label: `${name} (${counted(hosts.length, "host")})` }))}
            {...form.getInputProps("host_groups")}
          />
          <ErrorLine error={groups.error} />
          {groups.data !== undefined && known.length === 0 && (
            <Text fz="xs">There are no host groups yet: create one under Baselines.</Text>
          )}
        </>
      )}
    </FormDialog>
  );
}
