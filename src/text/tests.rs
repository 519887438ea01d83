//! The sanitiser and the widths: tables for what people will meet, properties for what an enemy will send.

use std::borrow::Cow;
use std::time::Instant;

use proptest::prelude::*;

use super::*;

const FAMILY: &str = "👩\u{200d}👩\u{200d}👧\u{200d}👦";

#[test]
fn visible_escapes_what_cannot_be_seen() {
    for (text, expected) in [
        ("plain text", "plain text"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\u{1b}[38D\u{1b}[K", r"\x1b[38D\x1b[K"),
        ("\0\u{7}\u{7f}", r"\x00\x07\x7f"),
        ("\u{85}\u{9b}2K", r"\u{85}\u{9b}2K"),
        ("\u{202e}gpj.exe", r"\u{202e}gpj.exe"),
        ("\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}", r"\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}"),
        ("a\u{200b}b\u{200c}c\u{200d}d\u{2060}\u{feff}", r"a\u{200b}b\u{200c}c\u{200d}d\u{2060}\u{feff}"),
        ("soft\u{ad}hyphen", r"soft\u{ad}hyphen"),
        ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ("\u{e0041}\u{e007f}", r"\u{e0041}\u{e007f}"),
        ("\u{fff9}\u{fffb}", r"\u{fff9}\u{fffb}"),
        ("\u{3164}\u{115f}\u{ffa0}", r"\u{3164}\u{115f}\u{ffa0}"),
        ("\u{2063}\u{2064}\u{206a}", r"\u{2063}\u{2064}\u{206a}"),
        ("a\u{fe0f}", r"a\u{fe0f}"),
        ("a\u{fe00}\u{e0100}", r"a\u{fe00}\u{e0100}"),
        ("\u{ffff}", r"\u{ffff}"),
        ("日本語 한국어 العربية", "日本語 한국어 العربية"),
        ("e\u{301}", "e\u{301}"),
        ("\u{301}e", r"\u{301}e"),
        ("\n\u{301}", r"\n\u{301}"),
        // A decomposed syllable stays, loose parts of one would not be drawn.
        ("\u{1100}\u{1161}\u{11a8}각\u{11a8}가\u{1161}", "\u{1100}\u{1161}\u{11a8}각\u{11a8}가\u{1161}"),
        ("a\u{1161}", r"a\u{1161}"),
        ("각\u{1161}", r"각\u{1161}"),
        ("\u{1100}\u{301}\u{1161}", "\u{1100}\u{301}\\u{1161}"),
        ("\u{1100}\u{11a8}", "\u{1100}\\u{11a8}"),
        ("\u{600}1", "\u{600}1"),
        ("\u{605}1", r"\u{605}1"),
        // Emoji keep what holds them together.
        (FAMILY, FAMILY),
        ("♻\u{fe0f}", "♻\u{fe0f}"),
        ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
        ("👍🏽", "👍🏽"),
        ("👩🏽\u{200d}🚀", "👩🏽\u{200d}🚀"),
        ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
        ("🇩🇪🇫🇷", "🇩🇪🇫🇷"),
        // And nothing more than that.
        ("👩\u{200d}", r"👩\u{200d}"),
        ("👩\u{200d}x", r"👩\u{200d}x"),
        ("👩\u{200d}\u{200d}👩", r"👩\u{200d}\u{200d}👩"),
        ("♻\u{fe0f}\u{fe0f}", "♻\u{fe0f}\\u{fe0f}"),
        ("1\u{fe0f}", r"1\u{fe0f}"),
        ("♻\u{fe0e}", r"♻\u{fe0e}"),
    ] {
        assert_eq!(visible(text), expected, "{text:?}");
    }
}

#[test]
fn eight_marks_are_drawn_and_the_rest_is_shown() {
    let marks = "\u{301}".repeat(200);
    let shown = visible(&format!("a{marks}")).into_owned();
    assert_eq!(shown, format!("a{}{}", "\u{301}".repeat(8), r"\u{301}".repeat(192)));
}

#[test]
fn what_is_clean_is_borrowed() {
    for text in ["", "abc", "日本語", FAMILY] {
        assert!(matches!(visible(text), Cow::Borrowed(_)), "{text}");
        assert!(matches!(clean(text), Cow::Borrowed(_)), "{text}");
        assert!(matches!(fit(text, 20), Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn newline_and_tab_are_no_hidden_characters() {
    assert!(!has_hidden("a\n\tb"));
    for text in ["a\rb", "\u{202e}", "\u{0}", "x\u{200d}y", "\u{301}"] {
        assert!(has_hidden(text), "{text:?}");
    }
    assert!(!has_hidden(FAMILY));
}

#[test]
fn clean_reads_a_line_as_a_terminal_would() {
    for (text, expected) in [
        ("\u{1b}[1;31merror\u{1b}[0m: no", "error: no"),
        ("\u{9b}31merror\u{9b}m", "error"),
        ("\u{1b}[38:2::1:2:3mx\u{1b}[?25l", "x"),
        ("\u{1b}]0;title\u{7}after", "after"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{9d}0;title\u{9c}after", "after"),
        ("\u{1b}Pq#0\u{1b}\\a\u{90}q\u{9c}b\u{1b}_apc\u{1b}\\c\u{1b}^pm\u{1b}\\\u{98}sos\u{9c}d", "abcd"),
        ("\u{1b}(B\u{1b}7\u{1b}=x\u{1b}#8y", "xy"),
        ("10%\r50%\r100%", "100%"),
        ("10%\r100%\r\r", "100%"),
        ("10%\r\u{1b}[K", "10%"),
        ("\u{1b}[2K\u{1b}[1Gone", "one"),
        ("one\u{1b}[1Gtwo", "two"),
        ("one\u{1b}[2Ktwo", "two"),
        ("text\r\n", "text"),
        ("a\nb", r"a\nb"),
        ("abc\u{8}\u{8}X", "aX"),
        ("\u{8}a", "a"),
        ("a\tb", "a       b"),
        ("日本\tb\tc", "日本    b       c"),
        ("12345678\tb", "12345678        b"),
        ("\u{202e}x", r"\u{202e}x"),
        // What does not end hides nothing.
        ("\u{1b}]0;never ends", "0;never ends"),
        ("\u{1b}]0;cut\u{1b}[31mred", "0;cutred"),
        ("\u{1b}[31", ""),
        ("\u{1b}[31日", "日"),
        ("end\u{1b}", r"end\x1b"),
        ("\u{1b}\u{1b}[mx", r"\x1bx"),
        ("\u{1b}é", r"\x1bé"),
    ] {
        assert_eq!(clean(text), expected, "{text:?}");
    }
}

#[test]
fn widths_are_those_of_the_clusters() {
    for (text, cells) in [
        ("", 0),
        ("abc", 3),
        ("日本語", 6),
        ("한국어", 6),
        (FAMILY, 2),
        ("♻\u{fe0f}", 2),
        ("1\u{fe0f}\u{20e3}", 2),
        ("🇩🇪", 2),
        ("e\u{301}\u{302}\u{303}", 1),
        ("العربية", 7),
        ("👍🏽", 2),
        ("ｶﾞｷﾟ", 6),
        ("ﾞ", 2),
    ] {
        assert_eq!(width(text), cells, "{text}");
    }
}

#[test]
fn cutting_keeps_clusters_whole() {
    for (text, cells, expected) in [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("", 0, ""),
        ("日本", 4, "日本"),
        ("日本", 3, "日…"),
        ("日本", 2, "…"),
        ("日本", 1, "…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ("👩\u{200d}👩\u{200d}👧xyz", 4, "👩\u{200d}👩\u{200d}👧x…"),
    ] {
        assert_eq!(fit(text, cells), expected, "{text} in {cells}");
    }
    assert_eq!(pad("日本", 6), "日本  ");
    assert_eq!(pad("日本語", 4), "日… ");
    assert_eq!(pad("x", 0), "");
}

#[test]
fn wrapping_loses_nothing() {
    assert_eq!(wrap("abcdef", 4), ["abcd", "ef"]);
    assert_eq!(wrap("abcdefgh", 4), ["abcd", "efgh"]);
    assert_eq!(wrap("", 4), [""]);
    assert_eq!(wrap("a日本", 2), ["a", "日", "本"]);
    assert_eq!(wrap("日本", 1), ["日", "本"]);
    assert_eq!(wrap("ab", 0), ["a", "b"]);
    assert_eq!(wrap(&format!("x{FAMILY}y"), 2), ["x", FAMILY, "y"]);
    // One cluster of four cells in this version of Unicode: a base, a selector, a modifier.
    assert_eq!(wrap("  🕯\u{fe0f}🏽", 3), ["  ", "🕯\u{fe0f}", "🏽"]);
    let jamo = "\u{1100}".repeat(20);
    assert!(wrap(&jamo, 10).iter().all(|piece| width(piece) <= 10), "one cluster of 40 cells is split all the same");
}

#[test]
fn hostile_text_takes_linear_time() {
    let size = 50_000;
    let started = Instant::now();
    for unit in [
        "\u{9d}",
        "\u{1b}]",
        "\u{1b}[",
        "\t",
        "a\t",
        "\u{8}",
        "a\u{8}\t",
        "\r",
        "\u{301}",
        "👩\u{200d}",
        "\u{1100}",
        "🇩",
    ] {
        let text = unit.repeat(size);
        assert!(!has_hidden(&clean(&text)));
        let seen = visible(&text).into_owned();
        assert_eq!(wrap(&seen, 7).concat(), seen);
        assert!(width(&fit(&text, 40)) <= 40);
    }
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}

/// Text that is mostly made of what matters here.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b ",
        "日",
        "한",
        "\u{1100}",
        "\u{1161}",
        "ع",
        "e\u{301}",
        "\u{301}",
        "\u{20e3}",
        "1",
        "#",
        "♻",
        "\u{fe0f}",
        "\u{fe0e}",
        "\u{200d}",
        "👩",
        "👧",
        "🏽",
        "🇩",
        "🇪",
        "\u{202e}",
        "\u{200b}",
        "\n",
        "\t",
        "\r",
        "\u{8}",
        "\u{1b}",
        "\u{1b}[",
        "31m",
        "\u{1b}]0;",
        "\u{7}",
        "\u{9b}",
        "\u{9c}",
        "2K",
        "G",
        "\u{e0041}",
        "\u{600}",
        "\u{915}",
        "\u{94d}",
        "\u{937}",
        "\u{a4d0}",
        "\u{17d8}",
        "\\u{1b}",
        "ｶ",
        "ﾞ",
        "ﾟ",
    ])
    .prop_map(str::to_owned);
    prop::collection::vec(prop_oneof![4 => piece, 1 => any::<String>()], 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_hidden_is_left(text in odd_text()) {
        for out in [visible(&text), clean(&text)] {
            prop_assert!(!has_hidden(&out), "{:?}", out);
            prop_assert!(!out.contains(['\n', '\t']));
            let alone: Vec<char> = out.chars().filter(|c| is_hidden(*c)).collect();
            prop_assert!(alone.iter().all(|c| matches!(c, '\u{200d}' | '\u{fe0f}')), "{:?}", alone);
        }
    }

    #[test]
    fn a_second_time_changes_nothing(text in odd_text()) {
        let seen = visible(&text);
        prop_assert_eq!(&visible(&seen), &seen);
        let read = clean(&text);
        prop_assert_eq!(&clean(&read), &read);
    }

    #[test]
    fn visible_keeps_what_was_visible(text in "[ -~äß日한ع]{0,40}") {
        prop_assert_eq!(visible(&text), text.as_str());
        prop_assert_eq!(clean(&text), text.as_str());
    }

    #[test]
    fn cut_text_fits(text in odd_text()) {
        let text = visible(&text);
        for cells in 0..=40 {
            let cut = fit(&text, cells);
            prop_assert!(width(&cut) <= cells, "{:?} in {}", cut, cells);
            prop_assert!(cut == text || text.starts_with(cut.strip_suffix('…').unwrap_or(&cut)));
            prop_assert_eq!(width(&pad(&text, cells)), cells);
        }
    }

    #[test]
    fn wrapped_text_fits_and_is_complete(text in odd_text()) {
        let text = visible(&text);
        for cells in 1..=40 {
            let pieces = wrap(&text, cells);
            prop_assert_eq!(pieces.concat(), text.as_ref());
            // No character is wider than three cells.
            prop_assert!(pieces.iter().all(|piece| width(piece) <= cells.max(3)), "{:?}", pieces);
        }
    }

    /// The library that draws lays text out by its own rules, and leaves out what it gives no cell.
    #[test]
    fn the_screen_shows_every_character_where_we_expect_it(text in odd_text()) {
        let text = visible(&text);
        let cells = width(&text);
        let area = ratatui::layout::Rect::new(0, 0, u16::try_from(cells.max(1)).unwrap(), 1);
        let mut screen = ratatui::buffer::Buffer::empty(area);
        let (end, _) = screen.set_stringn(0, 0, &text, cells, ratatui::style::Style::new());
        prop_assert_eq!(usize::from(end), cells);
        let (mut shown, mut next) = (String::new(), 0);
        for (at, cell) in screen.content.iter().enumerate().take(cells) {
            if at == next {
                shown.push_str(cell.symbol());
                next += width(cell.symbol());
            }
        }
        prop_assert_eq!(shown, text.as_ref());
    }
}
