import { api } from "../api/client";
import { Alert, Button, Group, Modal, Select, Stack, Table, Text } from "@mantine/core";
import { IconShare } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { shareLinksQuery } from "../api/queries";
import { linkLifetimes, openLinks, type SharedSubject, usualLifetime, utcMinute } from "../logic/share_link";
import { describeDuration, MINUTE, SECOND, toDurationMs } from "../logic/time";
import { useNow } from "../state/clock";
import { counted } from "../logic/counted";
import { CopyBox } from "./CopyBox";
import { RevokeButton } from "./RevokeButton";
import { ErrorLine, PendingView } from "./StateView";
import { useServerForm } from "./useServerForm";

interface ShareButtonProps {
  readonly of: SharedSubject;
}

/** A button whose dialog makes, lists and revokes links that show this without a login. */
export function ShareButton({ of }: ShareButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconShare size={14} aria-hidden />}
        onClick={() => {
          setOpen(true);
        }}
      >
        Share…
      </Button>
      <Modal
        opened={isOpen}
        size="lg"
        title="Share by a link"
        onClose={() => {
          setOpen(false);
        }}
      >
        <Links of={of} />
      </Modal>
    </>
  );
}

function Links({ of }: ShareButtonProps) {
  const client = useQueryClient();
  const now = useNow(MINUTE);
  const query = useQuery(shareLinksQuery(of));
  const { queryKey } = shareLinksQuery(of);
  const usual = String(usualLifetime(query.data?.max_days ?? 0));
  const { form, submission, saved } = useServerForm({
    initialValues: { lifetime_s: null as string | null },
    send: (values) => api.POST("/share-links", { body: { ...of, lifetime_s: Number(values.lifetime_s ?? usual) } }),
    renews: [queryKey],
  });
  const ending = useMutation({
    mutationFn: (id: number) => api.DELETE("/share-links/{id}", { params: { path: { id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey }),
  });
  if (query.data === undefined) {
    return <PendingView query={query} what="share links" />;
  }
  const { max_days: maxDays, links } = query.data;
  if (maxDays === 0) {
    return <Text fz="sm">Share links are disabled on this server; an administrator can set NORMSTAT_SHARE_MAX_DAYS.</Text>;
  }
  const open = openLinks(links, now);
  return (
    <Stack gap="sm">
      <Text fz="sm">
        Anyone with the link sees this page, live, without a login, and nothing else of normstat. It expires, or ends when you
        revoke it or your account is closed.
      </Text>
      <form onSubmit={submission.onSubmit}>
        <Group gap="xs" align="flex-end">
          <Select
            size="xs"
            w={160}
            label="Valid for"
            allowDeselect={false}
            data={linkLifetimes(maxDays).map((seconds) => ({
              value: String(seconds),
              label: describeDuration(toDurationMs(seconds * SECOND)),
            }))}
            {...form.getInputProps("lifetime_s")}
            value={form.values.lifetime_s ?? usual}
          />
          <Button size="xs" type="submit" loading={submission.isPending}>
            Create link
          </Button>
        </Group>
      </form>
      <ErrorLine error={submission.error ?? ending.error} />
      {saved && (
        <Alert color="green" title={`Valid until ${utcMinute(saved.info.expires_at)} (shown only once)`}>
          <CopyBox text={saved.address} what="the link" />
        </Alert>
      )}
      {open.length > 0 && (
        <Table aria-label="share links">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Shared by</Table.Th>
              <Table.Th>Valid until</Table.Th>
              <Table.Th>Opened</Table.Th>
              <Table.Th />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {open.map((link) => (
              <Table.Tr key={link.id}>
                <Table.Td>{link.created_by}</Table.Td>
                <Table.Td>{utcMinute(link.expires_at)}</Table.Td>
                <Table.Td>{counted(link.n_opened, "time")}</Table.Td>
                <Table.Td className="number">
                  <RevokeButton
                    label={`Revoke the link that is valid until ${utcMinute(link.expires_at)}`}
                    isPending={ending.isPending && ending.variables === link.id}
                    onClick={() => {
                      ending.mutate(link.id);
                    }}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
