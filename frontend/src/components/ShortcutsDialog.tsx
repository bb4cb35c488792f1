import { Kbd, Modal, Table, Text } from "@mantine/core";
import { GESTURES, KEYS, PALETTE_SHOWN } from "../logic/keys";
import { words } from "../words";

interface ShortcutsDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Keyboard shortcuts and mouse gestures. */
export function ShortcutsDialog({ isOpen, onClose }: ShortcutsDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title={words.components.shortcutsDialog.keyboardMouseHostPage} size="md">
      <Table withRowBorders={false} verticalSpacing={3} highlightOnHover={false}>
        <Table.Tbody>
          <Table.Tr>
            <Table.Td w={170}>
              <Kbd size="xs">{PALETTE_SHOWN}</Kbd>
            </Table.Td>
            <Table.Td>{words.components.shortcutsDialog.everyPageFindMetric}</Table.Td>
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
            <Table.Td>{words.components.shortcutsDialog.showThisHelp}</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
      <Text fz="sm" className="soft" mt="sm">
        {words.components.shortcutsDialog.urlHoldsEverythingShown}
      </Text>
    </Modal>
  );
}
