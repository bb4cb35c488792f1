import { Paper, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { specQuery } from "../../api/queries";
import { isAdministrator, useMe } from "../../components/me";
import { PageLink } from "../../components/PageLink";
import { PendingView, StateView } from "../../components/StateView";
import { SampleInput } from "./NewSpecPage";
import { SpecEditor } from "./SpecEditor";
import "./specs.css";

/** Edits an add-on. */
export function EditSpecPage() {
  const { spec } = useParams({ from: "/shell/specs/$spec/edit" });
  useDocumentTitle(`Edit ${spec} · normstat`);
  const me = useMe();
  const [sample, setSample] = useState("");
  // Do not replace the text being edited by a version saved meanwhile. The last save wins; the server does not check.
  const detail = useQuery({ ...specQuery(spec), refetchOnWindowFocus: false, refetchOnReconnect: false });
  if (detail.data === undefined) {
    return (
      <div className="page">
        <PendingView query={detail} what={spec} />
      </div>
    );
  }
  if (detail.data.is_builtin || !isAdministrator(me)) {
    return (
      <div className="page">
        <StateView
          state={{
            kind: "empty",
            title: detail.data.is_builtin ? `${spec} is built in and cannot be edited` : "Only administrators can edit add-ons",
            next: (
              <PageLink to="/specs/$spec" params={{ spec }} search={{}}>
                Show spec
              </PageLink>
            ),
          }}
        />
      </div>
    );
  }
  return (
    <div className="page">
      <Title order={1} mb={4}>
        {`Edit ${spec}`}
      </Title>
      <Text fz="sm" className="soft" mb="sm">
        {`Saving makes version ${String(detail.data.version + 1)}. Existing samples stay unchanged until you reparse their streams.`}
      </Text>
      <Paper className="card" p="md" mb="md">
        <SampleInput value={sample} error={null} onChange={setSample} />
      </Paper>
      <SpecEditor name={spec} toml={detail.data.toml} sample={sample} />
    </div>
  );
}
