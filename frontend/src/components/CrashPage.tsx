import type { ErrorComponentProps } from "@tanstack/react-router";
import { reloadPage } from "../state/url";
import { StateView } from "./StateView";

/** Shown when a page crashes, or when its files are gone because the server has a newer build. */
export function CrashPage({ error }: ErrorComponentProps) {
  const reason = error instanceof Error ? error.message : "unknown error";
  return (
    <div className="page">
      <StateView state={{ kind: "error", error: new Error(`This page crashed: ${reason}`), onRetry: reloadPage }} />
    </div>
  );
}
