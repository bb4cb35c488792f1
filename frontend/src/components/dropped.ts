/** Files of a drop, including those in dropped folders, and of the browser's file choosers. */

import type { ChosenFile } from "../api/uploads";

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

async function filesOfFolder(folder: FileSystemDirectoryEntry, path: string): Promise<readonly ChosenFile[]> {
  const reader = folder.createReader();
  const found: ChosenFile[] = [];
  for (;;) {
    // Chromium returns a hundred entries at a time, and none when it is done.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject);
    });
    if (entries.length === 0) {
      return found;
    }
    for (const entry of entries) {
      found.push(...(await filesOfEntry(entry, `${path}${folder.name}/`)));
    }
  }
}

async function filesOfEntry(entry: FileSystemEntry, path: string): Promise<readonly ChosenFile[]> {
  if (isFile(entry)) {
    const file = await new Promise<File>((resolve, reject) => {
      entry.file(resolve, reject);
    });
    return [{ name: `${path}${file.name}`, file }];
  }
  return isFolder(entry) ? filesOfFolder(entry, path) : [];
}

/** Return all dropped files; names of files in folders begin with the folder. */
export async function filesOfDrop(transfer: DataTransfer): Promise<readonly ChosenFile[]> {
  // The list is empty once the event is over, so read the entries before awaiting anything.
  const entries = Array.from(transfer.items).flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) {
    return filesOfList(transfer.files);
  }
  const found = await Promise.all(entries.map((entry) => filesOfEntry(entry, "")));
  return found.flat();
}

/** Return the files of a file chooser. */
export function filesOfList(files: Iterable<File>): readonly ChosenFile[] {
  return Array.from(files, (file) => ({ name: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath, file }));
}
