import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

// Other stages of `make test` run beside these; only what fails waits that long.
configure({ asyncUtilTimeout: 20_000 });

// What Mantine asks of a browser and happy-dom lacks.
Object.assign(document, { fonts: { addEventListener: vi.fn(), removeEventListener: vi.fn() } });

afterEach(() => {
  cleanup();
  window.localStorage.clear();
  window.sessionStorage.clear();
});
