import { Select, TextInput } from "@mantine/core";
import { isNotEmpty } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client";
import { reportsQuery, reportTemplatesQuery } from "../../api/reports";
import { FormDialog } from "../../components/FormDialog";
import { nullable, useServerForm } from "../../components/useServerForm";

/** Starts a report, from a template or empty, and opens it. */
export function NewReport({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate();
  const templates = useQuery(reportTemplatesQuery).data?.templates ?? [];
  const { form, submission } = useServerForm({
    initialValues: { title: "", template: nullable("incident") },
    validate: { title: isNotEmpty("Enter a title") },
    send: (values) => api.POST("/reports", { body: { ...values, hosts: [] } }),
    renews: [reportsQuery.queryKey],
    onSaved: ({ report }) => navigate({ to: "/reports/$report", params: { report: String(report.id) }, search: {} }),
  });
  const chosen = templates.find(({ key }) => key === form.values.template);
  return (
    <FormDialog {...submission} title="New report" action="Start" onClose={onClose}>
      <TextInput label="Title" data-autofocus maxLength={300} {...form.getInputProps("title")} />
      <Select
        label="Template"
        description={chosen?.description ?? "Without a template the report is empty."}
        clearable
        data={templates.map((each) => ({ value: each.key, label: each.title }))}
        {...form.getInputProps("template")}
      />
    </FormDialog>
  );
}
