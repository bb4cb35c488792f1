import { Button, Menu, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useState } from "react";
import { toCsv } from "../../logic/host_lines";
import type { Scheme } from "../../logic/palette";
import type { GraphView } from "../../state/graph";
import { saveFile } from "../../state/download";
import type { HostGraphContext } from "./HostGraph";

interface GraphFilesProps {
  readonly graph: HostGraphContext;
  readonly kind: GraphView["kind"];
}

/** Takes the graph along: as a picture, or its points as CSV. */
export function GraphFiles({ graph, kind }: GraphFilesProps) {
  const [problem, setProblem] = useState("");
  const take = (format: "png" | "svg", scheme: Scheme): void => {
    setProblem("");
    import("./saveGraphPicture")
      .then(({ saveGraphPicture }) => saveGraphPicture({ ...graph, scheme }, kind, format))
      .catch((reason: unknown) => {
        setProblem(`The picture could not be drawn: ${reason instanceof Error ? reason.message : String(reason)}`);
      });
  };
  const item = (format: "png" | "svg", scheme: Scheme, label: string) => (
    <Menu.Item
      onClick={() => {
        take(format, scheme);
      }}
    >
      {label}
    </Menu.Item>
  );
  return (
    <>
      <Text fz="xs" role="status" hidden={problem === ""}>
        {problem}
      </Text>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button className="no-print graph-files" variant="default" leftSection={<IconDownload size={14} />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {item("png", graph.scheme, "PNG picture")}
          {item("svg", graph.scheme, "SVG picture")}
          {graph.scheme === "dark" && item("png", "light", "PNG picture on white")}
          {graph.scheme === "dark" && item("svg", "light", "SVG picture on white")}
          <Menu.Item
            onClick={() => {
              const name = (graph.block.metric?.key ?? "graph").replaceAll(/[^\w.-]/g, "_");
              saveFile(`${name}.csv`, new Blob([toCsv(graph.block)], { type: "text/csv;charset=utf-8" }));
            }}
          >
            CSV of the points drawn
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}
