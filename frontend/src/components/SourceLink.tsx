import { PageLink } from "./PageLink";
import type { EpisodeInfo } from "../logic/api";
import { isOfComparison } from "../logic/watch";
import type { Clock } from "../state/url";
import { encodeClock } from "../state/zone_choice";
import { episodeLink } from "./episodeLink";

interface SourceLinkProps {
  readonly title: string;
  readonly episode: EpisodeInfo;
  readonly clock: Clock;
}

/** What found an episode: its rule's page; of the continuous comparison, which has no rule, the host at that time. */
export function SourceLink({ title, episode, clock }: SourceLinkProps) {
  if (isOfComparison(episode) && episode.host !== null) {
    return (
      <PageLink to="/hosts/$host" params={{ host: episode.host }} search={episodeLink(episode, clock)} fw={600}>
        {title}
      </PageLink>
    );
  }
  return (
    <PageLink to="/watch/rules/$rule" params={{ rule: episode.source }} search={encodeClock(clock)} fw={600}>
      {title}
    </PageLink>
  );
}
