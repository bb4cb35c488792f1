import { Kbd, Modal, Table, Text } from "@mantine/core";
import { GESTURES, KEYS, PALETTE_SHOWN } from "../logic/keys";

interface ShortcutsDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Keyboard shortcuts and mouse gestures. */
export function ShortcutsDialog({ isOpen, onClose }: ShortcutsDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard and mouse on the host page" size="md">
      <Table withRowBorders={false} verticalSpacing={3} highlightOnHover={false}>
        <Table.Tbody>
          <Table.Tr>
            <Table.Td w={170}>
              <Kbd size="xs">{PALETTE_SHOWN}</Kbd>
            </Table.Td>
            <Table.Td>
              on every page: find a metric, host, disk, process, baseline, comparison, event or page (on a Mac ⌘ K)
            </Table.Td>
          </Table.Tr>
          {[...KEYS, ...GESTURES].map(({ shown, help }) => (
            <Table.Tr key={shown}>
              <Table.Td w={170}>
                <Kbd size="xs">{shown}</Kbd>
              </Table.Td>
              <Table.Td>{help}</Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Td>
              <Kbd size="xs">?</Kbd>
            </Table.Td>
            <Table.Td>show this help</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
      <Text fz="sm" className="soft" mt="sm">
        {"The URL holds everything that is shown: copy it to share the view. Click a panel's (i) for the meaning of its fields."}
      </Text>
    </Modal>
  );
}
