import { Button, Group, Modal, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { contextQuery } from "../api/queries";
import type { StreamContext } from "../logic/api";
import { formatCount } from "../logic/number";
import { gutterText, gutterWidth } from "../logic/stream";
import { PendingView } from "./StateView";
import { counted } from "../logic/counted";
import "./LineContext.css";

const AROUND = [10, 50, 200] as const;

interface LineContextProps {
  readonly streamId: number;
  readonly offset: number;
  readonly onClose: () => void;
}

/** A line of raw output with the lines around it, as the tool printed them. */
export function LineContext({ streamId, offset, onClose }: LineContextProps) {
  const [around, setAround] = useState<number>(AROUND[0]);
  const context = useQuery(contextQuery({ streamId, offset, around }));
  return (
    <Modal
      opened
      onClose={onClose}
      size="min(96vw, 1180px)"
      title={context.data === undefined ? "Line in context" : `${context.data.spec} on ${context.data.host}`}
    >
      {context.data === undefined ? (
        <PendingView query={context} what="surrounding lines" />
      ) : (
        <>
          <ContextLines context={context.data} />
          <Group justify="space-between" mt="sm">
            <Text fz="sm" className="soft">
              {`Raw tool output; stream ${context.data.key}, byte ${formatCount(offset)}.`}
            </Text>
            <Group gap={6}>
              <Text fz="sm" className="soft" component="span">
                Lines before and after:
              </Text>
              {AROUND.map((n) => (
                <Button
                  key={n}
                  size="compact-xs"
                  variant={n === around ? "filled" : "default"}
                  aria-pressed={n === around}
                  onClick={() => {
                    setAround(n);
                  }}
                >
                  {formatCount(n)}
                </Button>
              ))}
            </Group>
          </Group>
        </>
      )}
    </Modal>
  );
}

/** The lines, scrolled to the requested one, which stands out by an arrow, a frame and bold type. */
function ContextLines({ context }: { readonly context: StreamContext }) {
  const target = useRef<HTMLLIElement>(null);
  useEffect(() => {
    target.current?.scrollIntoView({ block: "center" });
  }, [context]);
  const width = `${String(gutterWidth(context.lines))}ch`;
  return (
    <div className="context-frame" role="region" aria-label="Raw output" tabIndex={0}>
      <ol className="context-lines mono">
        {context.lines.map((line) => (
          <li
            key={line.offset}
            ref={line.is_target ? target : null}
            className="context-line"
            data-target={line.is_target}
            {...(line.is_target ? { "aria-current": "true" as const } : {})}
          >
            {line.is_after_gap && <span className="context-gap">gap: these bytes were lost on the host</span>}
            <span className="context-gutter" style={{ width }} title={`byte ${formatCount(line.offset)}`}>
              {gutterText(line)}
            </span>
            <span className="context-mark" aria-hidden>
              {line.is_target ? "▶" : ""}
            </span>
            <span className="context-text">
              {line.text}
              {line.is_cut && <span className="soft"> {`… (truncated; at least ${counted(line.n_bytes, "byte")})`}</span>}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
