import { MultiSelect, Radio, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hostGroupsQuery } from "../../api/baselines";
import { updateUser } from "../../api/endpoints";
import { FormDialog } from "../../components/FormDialog";
import { ErrorLine } from "../../components/StateView";
import type { UserInfo } from "../../logic/api";
import { words } from "../../words";

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
    mutationFn: () => updateUser(user.name, { host_groups: isLimited ? [...chosen] : null }),
    onSuccess: async () => {
      await onDone();
      onClose();
    },
  });
  const known = groups.data?.groups ?? [];
  return (
    <FormDialog
      title={words.hostAccess.hostsOf(user.name)}
      action={words.hostAccess.save}
      isReady
      isPending={saving.isPending}
      error={saving.error}
      onSubmit={() => {
        saving.mutate();
      }}
      onClose={onClose}
    >
      <Radio.Group
        aria-label={words.hostAccess.hostsOf(user.name)}
        value={isLimited ? "groups" : "all"}
        onChange={(value) => {
          setLimited(value === "groups");
        }}
      >
        <Stack gap="xs">
          <Radio size="xs" value="all" label={words.hostAccess.allHosts} />
          <Radio size="xs" value="groups" label={words.hostAccess.hostsOfGroups} description={words.hostAccess.help} />
        </Stack>
      </Radio.Group>
      {isLimited && (
        <>
          <MultiSelect
            size="xs"
            searchable
            label={words.hostAccess.hostGroups}
            placeholder={chosen.length === 0 ? words.hostAccess.noGroupSeesNothing : ""}
            data={known.map(({ name, hosts }) => ({ value: name, label: words.hostAccess.groupOf(name, hosts.length) }))}
            value={[...chosen]}
            onChange={setChosen}
          />
          <ErrorLine error={groups.error} />
          {groups.data !== undefined && known.length === 0 && <Text fz="xs">{words.hostAccess.noGroups}</Text>}
        </>
      )}
    </FormDialog>
  );
}
