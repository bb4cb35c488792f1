import { api } from "../../api/client";
import { Button, Group, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconDownload, IconFileTypePdf, IconPackage, IconPlus } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { bundleAddress } from "../../api/addresses";
import { reportExport, reportQuery } from "../../api/reports";
import { IgnoredNote } from "../../components/IgnoredNote";
import { mayWrite, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { ShareButton } from "../../components/ShareButton";
import { ErrorLine, PendingView, StateView } from "../../components/StateView";
import type { ReportDetails, ReportInfo } from "../../logic/api";
import { moved } from "../../logic/note";
import { fromApi, toIso } from "../../logic/time";
import { readNow } from "../../state/clock";
import { decodeReportView, encodeReportView, type ReportView } from "../../state/report";
import { undo } from "../../state/undo";
import { AddHere, AddNote } from "./AddNote";
import { ConflictAlert } from "./ConflictAlert";
import { NoteCard } from "./NoteCard";
import { ReportForm } from "./ReportForm";
import "./reports.css";
// Each host of a report has a bundle of its own.
const MAX_BUNDLES = 3;
const HOUR_MS = 3_600_000;

/** What the preview may do: hand over files, open links in a tab of their own; no scripts. */
const PREVIEW_MAY = ["allow-downloads", "allow-popups"].join(" ");

/** One report: its notes to edit, or the preview exactly as it is exported. */
export function ReportPage() {
  const { report: given } = useParams({ strict: false });
  const id = Number(given);
  const search = useSearch({ strict: false });
  const { view, ignored } = useMemo(() => decodeReportView(search), [search]);
  const query = useQuery({ ...reportQuery(id), enabled: Number.isSafeInteger(id) && id > 0 });
  useDocumentTitle(`${query.data?.report.title ?? "report"} - normstat`);
  return (
    <div className="page">
      <IgnoredNote ignored={ignored} />
      {query.data === undefined ? <PendingView query={query} what="report" /> : <Loaded details={query.data} view={view} />}
    </div>
  );
}

function Loaded({ details, view }: { readonly details: ReportDetails; readonly view: ReportView }) {
  const { report } = details;
  const navigate = useNavigate();
  const mayEdit = mayWrite(useMe());
  const [isRenaming, setRenaming] = useState(false);
  const templating = useMutation({
    mutationFn: () => api.POST("/reports/{id}/template", { params: { path: { id: report.id } }, body: { title: report.title } }),
    onSuccess: () => {
      undo.say("Saved as a template; New report offers it", null);
    },
  });
  return (
    <>
      <Group justify="space-between" mb={4} align="start">
        <div>
          <PageLink to="/incidents" search={{ show: "report" }} fz="sm">
            Reports
          </PageLink>
          <Title order={1}>{report.title}</Title>
          <Text fz="sm" className="soft">
            {[report.hosts.join(", "), windowOf(report), `by ${report.author}`].filter((part) => part !== "").join(" · ")}
          </Text>
        </div>
        <Group gap="xs" className="no-print">
          <SegmentedControl
            aria-label="What to show"
            data={[
              { value: "notes", label: "Notes" },
              { value: "preview", label: "Preview" },
            ]}
            value={view.show}
            onChange={(show) => {
              void navigate({
                to: "/reports/$report",
                params: { report: String(report.id) },
                search: encodeReportView({ ...view, show: show === "preview" ? "preview" : "notes" }),
              });
            }}
          />
          <Button
            variant="default"
            component="a"
            href={reportExport(report.id, "html", true)}
            download
            leftSection={<IconDownload size={14} />}
          >
            HTML
          </Button>
          <Button
            variant="default"
            component="a"
            href={reportExport(report.id, "pdf")}
            target="_blank"
            rel="noreferrer"
            leftSection={<IconFileTypePdf size={14} />}
          >
            PDF
          </Button>
          {report.start !== null &&
            report.end !== null &&
            report.hosts.slice(0, MAX_BUNDLES).map((host) => (
              <Button
                key={host}
                variant="default"
                component="a"
                href={bundleAddress(host, { start: fromApi(report.start ?? ""), end: fromApi(report.end ?? "") }, [report.id])}
                download
                title="The raw data of its host and window, with this report, for another normstat"
                leftSection={<IconPackage size={14} aria-hidden />}
              >
                {report.hosts.length === 1 ? "Bundle" : `Bundle of ${host}`}
              </Button>
            ))}
          {mayEdit && (
            <>
              <ShareButton of={{ report: report.id }} />
              <Button
                variant="default"
                onClick={() => {
                  setRenaming(true);
                }}
              >
                Title, hosts, window
              </Button>
              <Button
                variant="default"
                loading={templating.isPending}
                onClick={() => {
                  templating.mutate();
                }}
              >
                Save as template
              </Button>
            </>
          )}
        </Group>
      </Group>
      <ErrorLine error={templating.error} />
      {view.show === "preview" ? (
        <iframe
          className="report-preview"
          title="Preview"
          sandbox={PREVIEW_MAY}
          src={`${reportExport(report.id, "html")}?at=${String(report.revision)}-${details.notes.map(({ revision }) => revision).join("-")}`}
        />
      ) : (
        <Notes details={details} mayEdit={mayEdit} />
      )}
      {isRenaming && (
        <ReportForm
          report={report}
          onClose={() => {
            setRenaming(false);
          }}
        />
      )}
    </>
  );
}

function windowOf({ start, end }: ReportInfo): string {
  return start === null || end === null ? "" : `${start} – ${end}`;
}

function Notes({ details, mayEdit }: { readonly details: ReportDetails; readonly mayEdit: boolean }) {
  const { report, notes } = details;
  const client = useQueryClient();
  const [place, setPlace] = useState<number | null>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  const ids = notes.map(({ id }) => id);
  const ordering = useMutation({
    mutationFn: (order: readonly number[]) =>
      api.PUT("/reports/{id}/order", {
        params: { path: { id: report.id } },
        body: { revision: report.revision, notes: [...order] },
      }),
    onSuccess: (changed) => {
      client.setQueryData(reportQuery(report.id).queryKey, changed);
    },
  });
  const move = (id: number, to: number): void => {
    ordering.mutate(moved(ids, id, to));
  };
  const now = readNow();
  const start = {
    host: report.hosts[0] ?? "",
    start: report.start ?? toIso((now - HOUR_MS) as typeof now),
    end: report.end ?? toIso(now),
  };
  return (
    <>
      <ConflictAlert
        error={ordering.error}
        onLoad={() => {
          ordering.reset();
          void client.invalidateQueries({ queryKey: reportQuery(report.id).queryKey });
        }}
      />
      {notes.length === 0 && (
        <StateView
          state={{
            kind: "empty",
            title: "No notes yet",
            next: "Add a text here, or open a graph, a comparison or an artefact and choose Add to report.",
          }}
        />
      )}
      <Stack gap={6} className="note-list">
        {notes.map((note, index) => (
          <div
            key={note.id}
            data-drop={dragged !== null && dragged !== note.id}
            onDragOver={(event) => {
              event.preventDefault();
            }}
            onDrop={() => {
              if (dragged !== null && dragged !== note.id) {
                move(dragged, index);
              }
              setDragged(null);
            }}
          >
            {mayEdit && (
              <AddHere
                onClick={() => {
                  setPlace(index);
                }}
              />
            )}
            <NoteCard
              report={report.id}
              note={note}
              place={index}
              n={notes.length}
              mayEdit={mayEdit}
              onMove={move}
              onDragged={setDragged}
            />
          </div>
        ))}
      </Stack>
      {mayEdit && (
        <Button
          mt="sm"
          leftSection={<IconPlus size={14} />}
          className="no-print"
          onClick={() => {
            setPlace(notes.length);
          }}
        >
          Add a note
        </Button>
      )}
      {place !== null && (
        <AddNote
          report={report.id}
          start={start}
          place={place}
          onClose={() => {
            setPlace(null);
          }}
        />
      )}
    </>
  );
}
