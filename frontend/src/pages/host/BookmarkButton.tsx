import { ActionIcon, Tooltip } from "@mantine/core";
import { IconBookmark, IconBookmarkFilled } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client";
import { viewsQuery } from "../../api/queries";
import type { ViewPanel } from "../../logic/api";
import { BOOKMARKS, bookmarksOf, isSamePanel } from "../../logic/view";
import { useMe } from "../../components/me";

interface BookmarkButtonProps {
  readonly title: string;
  readonly panel: ViewPanel;
}

/** Adds a panel to one's own view of bookmarks, or takes it out again. */
export function BookmarkButton({ title, panel }: BookmarkButtonProps) {
  const client = useQueryClient();
  const me = useMe();
  const view = bookmarksOf(useQuery(viewsQuery).data?.views ?? [], me.name);
  const isMarked = view?.panels.some((each) => isSamePanel(each, panel)) === true;
  const marking = useMutation({
    mutationFn: () => {
      if (view === null) {
        const body = { name: BOOKMARKS, description: "", is_shared: false, panels: [panel] };
        return api.POST("/views", { body });
      }
      const { key } = view;
      const panels = isMarked ? view.panels.filter((each) => !isSamePanel(each, panel)) : [...view.panels, panel];
      return panels.length === 0
        ? api.DELETE("/views/{key}", { params: { path: { key } } })
        : api.PATCH("/views/{key}", { body: { panels }, params: { path: { key } } });
    },
    onSettled: () => client.invalidateQueries({ queryKey: viewsQuery.queryKey }),
  });
  return (
    <Tooltip label={marking.error?.message ?? (isMarked ? "Remove the bookmark" : `Bookmark: add to your view ${BOOKMARKS}`)}>
      <ActionIcon
        size="sm"
        aria-label={`Bookmark ${title}`}
        aria-pressed={isMarked}
        loading={marking.isPending}
        onClick={() => {
          marking.mutate();
        }}
      >
        {isMarked ? <IconBookmarkFilled size={15} /> : <IconBookmark size={15} />}
      </ActionIcon>
    </Tooltip>
  );
}
