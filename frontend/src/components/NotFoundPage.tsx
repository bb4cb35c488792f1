import { PageLink } from "./PageLink";
import { StateView } from "./StateView";
import { words } from "../words";

export function NotFoundPage() {
  return (
    <StateView
      state={{
        kind: "empty",
        title: words.components.notFoundPage.pageNotFound,
        next: (
          <PageLink to="/hosts" search={{}}>
            {words.components.notFoundPage.showAllHosts}
          </PageLink>
        ),
      }}
    />
  );
}
