/** Files that the page makes itself. */

// Twice as fine as a screen of the usual density.
const PNG_SCALE = 2;

interface SvgPicture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

/** Hand a file to the browser, which saves it or asks where. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads it after this.
  setTimeout(() => {
    URL.revokeObjectURL(address);
  }, 60_000);
}

/** Have the browser save what the server sends from an address. */
export function downloadFrom(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

/** Hand a picture to the browser as a file. Raises: Error if the browser cannot draw it. */
export async function savePictureFile(name: string, picture: SvgPicture, format: "png" | "svg"): Promise<void> {
  saveFile(name, format === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await toPng(picture));
}

/** Return an SVG as PNG. Raises: Error if the browser cannot draw it. */
async function toPng({ svg, width, height }: SvgPicture): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * PNG_SCALE;
    canvas.height = height * PNG_SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = await new Promise<Blob | null>((resolve) => {
      canvas.toBlob(resolve, "image/png");
    });
    if (png === null) {
      throw new Error("the browser could not draw the picture");
    }
    return png;
  } finally {
    URL.revokeObjectURL(address);
  }
}
