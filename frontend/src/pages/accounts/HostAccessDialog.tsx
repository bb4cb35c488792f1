import { api } from "../../api/client";
import { MultiSelect, Radio, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostGroupsQuery } from "../../api/baselines";

import { FormDialog } from "../../components/FormDialog";
import { ErrorLine } from "../../components/StateView";
import type { UserInfo } from "../../logic/api";
import { counted } from "../../logic/counted";

interface HostAccessDialogProps {
  readonly user: UserInfo;
  readonly onClose: () => void;
  readonly onDone: () => Promise<void>;
}

/** Says which hosts an account sees: all of them, or those of some host groups. */
export function HostAccessDialog({ user, onClose, onDone }: HostAccessDialogProps) {
  const groups = useQuery(hostGroupsQuery);
  const [isLimited, setLimited] = useState(user.host_groups !== null);
  const [chosen, setChosen] = useState<readonly string[]>(user.host_groups ?? []);
  const saving = useMutation({
    mutationFn: () =>
      api.PATCH("/users/{name}", {
        body: { host_groups: isLimited ? [...chosen] : null },
        params: { path: { name: user.name } },
      }),
    onSuccess: async () => {
      await onDone();
      onClose();
    },
  });
  const known = groups.data?.groups ?? [];
  return (
    <FormDialog
      title={`Hosts of ${user.name}`}
      action="Save"
      isReady
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <Radio.Group
        aria-label={`Hosts of ${user.name}`}
        value={isLimited ? "groups" : "all"}
        onChange={(value) => {
          setLimited(value === "groups");
        }}
      >
        <Stack gap="xs">
          <Radio size="xs" value="all" label="All hosts" />
          <Radio
            size="xs"
            value="groups"
            label="Only the hosts of host groups"
            description="It sees these hosts and what belongs to them: samples, baselines, events, alerts. It cannot change what also covers other hosts, nor rules, host groups or the server."
          />
        </Stack>
      </Radio.Group>
      {isLimited && (
        <>
          <MultiSelect
            size="xs"
            searchable
            label="Host groups"
            placeholder={chosen.length === 0 ? "No group: it sees no host" : ""}
            data={known.map(({ name, hosts }) => ({ value: name, label: `${name} (${counted(hosts.length, "host")})` }))}
            value={[...chosen]}
            onChange={setChosen}
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
