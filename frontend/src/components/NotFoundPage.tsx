import { PageLink } from "./PageLink";
import { StateView } from "./StateView";

export function NotFoundPage() {
  return (
    <StateView
      state={{
        kind: "empty",
        title: "There is no page at this address",
        next: (
          <PageLink to="/hosts" search={{}}>
            Go to the hosts
          </PageLink>
        ),
      }}
    />
  );
}
