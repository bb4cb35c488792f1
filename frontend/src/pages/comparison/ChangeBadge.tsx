/** Says that only the incident, or only the baseline, has a process or command. */
export function ChangeBadge({ change }: { readonly change: "new" | "gone" | null }) {
  return (
    change !== null && (
      <span className="ledger-badge" data-change={change}>
        {change}
      </span>
    )
  );
}
