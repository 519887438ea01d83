//! The regions of the screen by its size. Pure arithmetic; draws nothing.

use ratatui::layout::Rect;

/// The smallest screen that shows a view.
pub const SMALLEST: (u16, u16) = (40, 12);
/// From this width on a view shows two panes, in cells.
pub const TWO_PANES: u16 = 100;

/// Where things stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Regions {
    /// Product, counts, clock.
    pub header: Rect,
    /// The views by number.
    pub views: Rect,
    /// A line for what must not be overlooked; no height when there is nothing.
    pub banner: Rect,
    /// The panes.
    pub body: Rect,
    /// Keys or a message.
    pub foot: Rect,
}

impl Regions {
    /// The regions of a screen, `None` when it is too small for any.
    pub fn of(screen: Rect, banner: u16) -> Option<Self> {
        if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
            return None;
        }
        let line = |y: u16, height: u16| Rect { y: screen.y + y, height, ..screen };
        Some(Self {
            header: line(0, 1),
            views: line(1, 1),
            banner: line(2, banner),
            body: line(2 + banner, screen.height - 3 - banner),
            foot: line(screen.height - 1, 1),
        })
    }
}

/// The two panes of a view, or only the first when there is no room for both.
pub fn panes(body: Rect) -> (Rect, Option<Rect>) {
    if body.width < TWO_PANES {
        return (body, None);
    }
    let left = body.width / 2;
    (Rect { width: left, ..body }, Some(Rect { x: body.x + left, width: body.width - left, ..body }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_cover_the_screen_without_overlap() {
        for width in 0..130 {
            for height in 0..45 {
                for banner in 0..2 {
                    let screen = Rect::new(0, 0, width, height);
                    let Some(regions) = Regions::of(screen, banner) else {
                        assert!(width < 40 || height < 12);
                        continue;
                    };
                    let parts = [regions.header, regions.views, regions.banner, regions.body, regions.foot];
                    assert_eq!(parts.iter().map(|part| part.height).sum::<u16>(), height);
                    assert!(parts.windows(2).all(|pair| pair[0].bottom() == pair[1].y));
                    let (left, right) = panes(regions.body);
                    assert_eq!(left.width + right.map_or(0, |right| right.width), width);
                }
            }
        }
    }
}
