import { Button, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { counted } from "../logic/counted";
import { formatCount } from "../logic/number";
import { ScrollCard } from "./ScrollCard";
import { PendingView, StateView } from "./StateView";

interface FilteredListProps {
  /** What it lists: `Events`; also the name of its card. */
  readonly label: string;
  readonly query: { readonly data: unknown; readonly error: Error | null; readonly refetch: () => Promise<unknown> };
  /** How many rows pass the filter. */
  readonly n: number;
  readonly isFiltered: boolean;
  /** The words of the filter. */
  readonly words?: string;
  /** Clears the filter. */
  readonly onAll: () => void;
  /** What is said where there is nothing at all, and what to do then. */
  readonly title?: string;
  readonly next?: ReactNode;
  readonly pages?: PagesProps;
  /** The table of the rows. */
  readonly children: ReactNode;
}

/** A list that is filtered: that it is loading, that it failed, that nothing is there or matches, or its rows with their pages. */
export function FilteredList(props: FilteredListProps) {
  const { label, query, n, isFiltered, words = "", onAll, next, pages, children } = props;
  const what = label.toLowerCase();
  return (
    <>
      <ScrollCard label={label}>
        {query.data === undefined ? (
          <PendingView query={query} what={what} />
        ) : n > 0 ? (
          children
        ) : isFiltered ? (
          <StateView
            state={{
              kind: "empty",
              title: `No ${what} match${words === "" ? "" : ` “${words}”`}`,
              next: (
                <Button size="compact-xs" variant="default" onClick={onAll}>
                  {`Show all ${what}`}
                </Button>
              ),
            }}
          />
        ) : (
          <StateView state={{ kind: "empty", title: props.title ?? `No ${what} yet`, next }} />
        )}
      </ScrollCard>
      {pages !== undefined && pages.nTotal > 0 && <Pages {...pages} />}
    </>
  );
}

interface PagesProps {
  /** What is counted: `event`. */
  readonly one: string;
  /** From 0 on. */
  readonly page: number;
  readonly size: number;
  readonly nShown: number;
  readonly nTotal: number;
  readonly onPage: (page: number) => void;
}

/** Which rows a page shows, and the ways to the pages beside it. */
function Pages({ one, page, size, nShown, nTotal, onPage }: PagesProps) {
  const first = page * size;
  const turn = (label: string, by: -1 | 1, isEnd: boolean) => (
    <Button
      size="compact-sm"
      variant="default"
      disabled={isEnd}
      onClick={() => {
        onPage(page + by);
      }}
    >
      {label}
    </Button>
  );
  return (
    <Group gap="sm" mt="sm">
      <Text fz="sm" className="soft" role="status">
        {nTotal > nShown && nShown > 0
          ? `${formatCount(first + 1)}–${formatCount(first + nShown)} of ${counted(nTotal, one)}`
          : counted(nTotal, one)}
      </Text>
      {(page > 0 || first + nShown < nTotal) && (
        <>
          {turn("Newer", -1, page === 0)}
          {turn("Older", 1, first + nShown >= nTotal)}
        </>
      )}
    </Group>
  );
}
