import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { type ComponentProps, useState } from "react";
import { expect, test, vi } from "vitest";
import { FilteredList } from "./FilteredList";

const QUERY = { data: {}, error: null, refetch: () => Promise.resolve() };

function show(props: Partial<ComponentProps<typeof FilteredList>>): void {
  render(
    <MantineProvider>
      <FilteredList label="Jobs" query={QUERY} n={0} isFiltered={false} onAll={() => undefined} {...props}>
        the rows
      </FilteredList>
    </MantineProvider>,
  );
}

test("says that it loads, and what failed", async () => {
  show({ query: { ...QUERY, data: undefined } });
  expect(screen.getByRole("status").textContent).toContain("Loading jobs");
  const refetch = vi.fn(() => Promise.resolve());
  show({ query: { data: undefined, error: new Error("the database is away"), refetch } });
  screen.getByText("the database is away");
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(refetch).toHaveBeenCalledOnce();
});

test("without rows says what to do first, with a filter how to see all", async () => {
  show({ next: "Import a file." });
  screen.getByText("No jobs yet");
  screen.getByText("Import a file.");
  const onAll = vi.fn();
  show({ isFiltered: true, words: "web", onAll });
  screen.getByText("No jobs match “web”");
  await userEvent.click(screen.getByRole("button", { name: "Show all jobs" }));
  expect(onAll).toHaveBeenCalledOnce();
  expect(screen.queryByText("the rows")).toBeNull();
});

function Paged() {
  const [page, setPage] = useState(0);
  const nShown = page === 2 ? 50 : 100;
  return (
    <FilteredList
      label="Jobs"
      query={QUERY}
      n={nShown}
      isFiltered={false}
      onAll={() => undefined}
      pages={{ one: "job", page, size: 100, nShown, nTotal: 250, onPage: setPage }}
    >
      the rows
    </FilteredList>
  );
}

test("has its rows by pages, from the newest to the oldest", async () => {
  render(
    <MantineProvider>
      <Paged />
    </MantineProvider>,
  );
  screen.getByText("the rows");
  const newer = screen.getByRole<HTMLButtonElement>("button", { name: "Newer" });
  const older = screen.getByRole<HTMLButtonElement>("button", { name: "Older" });
  expect(screen.getByRole("status").textContent).toBe("1–100 of 250 jobs");
  expect([newer.disabled, older.disabled]).toEqual([true, false]);
  await userEvent.click(older);
  await userEvent.click(older);
  expect(screen.getByRole("status").textContent).toBe("201–250 of 250 jobs");
  expect([newer.disabled, older.disabled]).toEqual([false, true]);
  await userEvent.click(newer);
  expect(screen.getByRole("status").textContent).toBe("101–200 of 250 jobs");
});
