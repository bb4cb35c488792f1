import type { ErrorComponentProps } from "@tanstack/react-router";
import { reloadPage } from "../state/url";
import { StateView } from "./StateView";

/** A page that fell over; or one whose files are gone because the server has a newer build. */
export function CrashPage({ error }: ErrorComponentProps) {
  const reason = error instanceof Error ? error.message : "for an unknown reason";
  return (
    <div className="page">
      <StateView state={{ kind: "error", error: new Error(`The page fell over: ${reason}`), onRetry: reloadPage }} />
    </div>
  );
}
