import { Button, Group, SegmentedControl, Text, useComputedColorScheme } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { type ReactNode, useMemo } from "react";
import { FlameCanvas } from "../../components/flame/FlameCanvas";
import { FlameLegend } from "../../components/flame/FlameLegend";
import { FlamePath } from "../../components/flame/FlamePath";
import {
  callersOf,
  changeOf,
  type FlameNodes,
  largestChange,
  layOut,
  matchNames,
  nameAt,
  pathTo,
  startOf,
} from "../../logic/flame";
import { changeColour, colourOf, type Scheme } from "../../logic/flame_colour";
import { flameSvg } from "../../logic/flame_svg";
import { savePictureFile } from "../../state/download";
import type { FlameView } from "../../state/flame";

const graphStacksEnd = (names: string) => `calls ${names}`;

const graphCalledBy = (names: string) => `called by ${names}`;

const CALLERS = 4;
const SVG_WIDTH = 1400;

interface FlameGraphProps {
  readonly title: string;
  /** Of the file. */
  readonly fileName: string;
  readonly nodes: FlameNodes;
  /** The ids and names of the frames down to node 0. */
  readonly path: readonly { readonly id: number; readonly name: string }[];
  readonly view: FlameView;
  readonly isFlame: boolean;
  readonly onView: (changed: Partial<FlameView>) => void;
  /** Values of a frame. */
  readonly values: (index: number) => string;
  /** What is not drawn. */
  readonly note: ReactNode;
  readonly onSearch: () => void;
}

/** The graph with its path and legend; a zoom is drawn at once of what is there, and finer when the server has answered. */
export function FlameGraph({ title, fileName, nodes, path, view, isFlame, onView, values, note, onSearch }: FlameGraphProps) {
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  // The function of callers and callees begins the path; the focus comes after it.
  const ids = useMemo(() => path.map(({ id }) => id).slice(view.called === null ? 0 : 1), [path, view.called]);
  const start = startOf(nodes, ids, view.focus);
  const layout = useMemo(() => layOut(nodes, start, view.order), [nodes, start, view.order]);
  const colours = useMemo(() => coloursOf(nodes, scheme), [nodes, scheme]);
  const matched = useMemo(() => matchNames(nodes.names, view.search), [nodes, view.search]);
  const root = path.at(-1)?.name ?? "all stacks";
  const names = useMemo(() => (index: number) => (index === 0 ? root : nameAt(nodes, index)), [nodes, root]);
  const label = useMemo(() => labelsOf(nodes, names), [nodes, names]);
  const describe = (index: number) => `${names(index)}: ${values(index)}`;
  const way = [...path.map(({ name }) => name), ...namesTo(nodes, start)];
  const steps = view.called === null ? way : way.slice(1);
  const nCallers = view.direction === "up" && view.called === null ? graphStacksEnd : graphCalledBy;
  return (
    <>
      <Group justify="space-between" mb={4} gap="xs">
        <FlamePath
          names={steps}
          onStep={(n) => {
            onView({ focus: [...ids, ...pathTo(nodes, start)].slice(0, n) });
          }}
        />
        <Button
          variant="default"
          size="compact-xs"
          leftSection={<IconDownload size={13} />}
          onClick={() => {
            const picture = flameSvg(nodes, layout, {
              title,
              note: values(start),
              width: SVG_WIDTH,
              isUp: isFlame,
              fill: (index) => coloursOf(nodes, "light")[index] ?? "#ccc",
              label,
              describe: values,
            });
            void savePictureFile(`${fileName}.svg`, { svg: picture, width: SVG_WIDTH, height: 0 }, "svg");
          }}
        >
          SVG
        </Button>
      </Group>
      <FlameCanvas
        name={`Flame graph: ${title}. Arrow keys move, Enter zooms, Escape goes back, / searches`}
        nodes={nodes}
        layout={layout}
        isFlame={isFlame}
        isDark={scheme === "dark"}
        colours={colours}
        matched={matched}
        label={label}
        describe={describe}
        tip={(index) => (
          <>
            <div className="flame-tip-name">{names(index)}</div>
            <div>{values(index)}</div>
            {index > 0 && callersOf(nodes, index, 1).length > 0 && (
              <div className="flame-tip-callers">{nCallers(callersOf(nodes, index, CALLERS).join(" ‹ "))}</div>
            )}
          </>
        )}
        onZoom={(index) => {
          const focus = [...ids, ...pathTo(nodes, index)];
          if (focus.join(".") !== view.focus.join(".")) {
            onView({ focus });
          }
        }}
        onOut={() => {
          if (view.focus.length > 0) {
            onView({ focus: view.focus.slice(0, -1) });
          }
        }}
        onSearch={onSearch}
      />
      <Group justify="space-between" mt={4} gap="xs">
        {nodes.change === null ? (
          <FlameLegend scheme={scheme} />
        ) : (
          <Text fz="xs" className="soft">
            Red + is more in the incident, blue − is less; the colour shows what ends in the function itself.
          </Text>
        )}
        <Text fz="xs" className="soft">
          Click or Enter zooms, Esc goes back, arrows move, / searches
        </Text>
      </Group>
      {note}
    </>
  );
}

function namesTo(nodes: FlameNodes, index: number): readonly string[] {
  return index === 0 ? [] : [...callersOf(nodes, index, nodes.parent.length)].reverse().concat(nameAt(nodes, index));
}

function coloursOf(nodes: FlameNodes, scheme: Scheme): readonly string[] {
  const { change } = nodes;
  if (change === null) {
    const ofNames = nodes.names.map((name) => colourOf(name, scheme));
    return nodes.name.map((name) => ofNames[name] ?? "");
  }
  const most = largestChange(nodes, true);
  return nodes.name.map((_, index) => changeColour(changeOf(change, index, true), most, scheme));
}

function labelsOf(nodes: FlameNodes, names: (index: number) => string): (index: number) => string {
  const { change } = nodes;
  if (change === null) {
    return names;
  }
  const least = largestChange(nodes, true) / 500;
  return (index) => {
    const own = changeOf(change, index, true);
    return own > least ? `+ ${names(index)}` : own < -least ? `− ${names(index)}` : names(index);
  };
}

interface FlameLookProps {
  readonly view: FlameView;
  readonly onView: (changed: Partial<FlameView>) => void;
}

/** Where the root is, and how siblings are ordered. */
export function FlameLook({ view, onView }: FlameLookProps) {
  return (
    <Group gap="sm" mb="xs">
      <SegmentedControl
        size="xs"
        aria-label="Direction"
        data={[
          { value: "icicle", label: "Root at the top" },
          { value: "flame", label: "Root at the bottom" },
        ]}
        value={view.isFlame ? "flame" : "icicle"}
        onChange={(value) => {
          onView({ isFlame: value === "flame" });
        }}
      />
      <SegmentedControl
        size="xs"
        aria-label="Order"
        data={[
          { value: "wide", label: "widest first" },
          { value: "name", label: "by name" },
        ]}
        value={view.order}
        onChange={(value) => {
          onView({ order: value });
        }}
      />
    </Group>
  );
}
