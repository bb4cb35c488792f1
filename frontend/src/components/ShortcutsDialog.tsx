import { Kbd, Modal, Table, Text } from "@mantine/core";
import { GESTURES, KEYS } from "../logic/keys";

interface ShortcutsDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** What keys and mouse do. */
export function ShortcutsDialog({ isOpen, onClose }: ShortcutsDialogProps) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys and mouse on a host's page" size="md">
      <Table withRowBorders={false} verticalSpacing={3} highlightOnHover={false}>
        <Table.Tbody>
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
            <Table.Td>this list</Table.Td>
          </Table.Tr>
        </Table.Tbody>
      </Table>
      <Text fz="sm" className="soft" mt="sm">
        The address in the browser says everything that is shown; copy it to show a colleague the same. Each field&apos;s meaning
        is behind the (i) of its panel.
      </Text>
    </Modal>
  );
}
