import { Menu } from "@mantine/core";
import { IconCheck } from "@tabler/icons-react";
import { reloadPage } from "../state/url";
import { language, words } from "../words";
import { LANGUAGE_NAMES, LANGUAGES, saveLanguage } from "../words/language";

/** The languages of the page as items of a menu. The page is loaded again in the chosen one. */
export function LanguageItems() {
  return (
    <>
      <Menu.Label>{words.components.languageItems.language}</Menu.Label>
      {LANGUAGES.map((each) => (
        <Menu.Item
          key={each}
          lang={each}
          // Mantine's items are menuitems whatever role they are given, and those have no aria-checked.
          aria-current={each === language}
          leftSection={<IconCheck size={14} aria-hidden style={{ visibility: each === language ? "visible" : "hidden" }} />}
          onClick={() => {
            if (each !== language) {
              saveLanguage(each);
              reloadPage();
            }
          }}
        >
          {LANGUAGE_NAMES[each]}
        </Menu.Item>
      ))}
    </>
  );
}
