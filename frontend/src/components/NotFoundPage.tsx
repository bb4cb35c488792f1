import { PageLink } from "./PageLink";
import { StateView } from "./StateView";

export function NotFoundPage() {
  return (
    <StateView
      state={{
        kind: "empty",
        title: "Page not found",
        next: (
          <PageLink to="/hosts" search={{}}>
            Show all hosts
          </PageLink>
        ),
      }}
    />
  );
}
