import { openPage, screen, test } from "../../testing";

test("without experiments the page teaches the command", async ({ server }) => {
  server.on("GET /experiments", { experiments: [], n_total: 0 });
  openPage("/experiments");
  await screen.findByText("No experiments yet");
  screen.getByText(/^normstat run --experiment xz --factor threads=1 --repeat 3/);
});
