//! A film of stills as GIF, one pixel for each unit, for places that show neither SVG nor script.
//! It begins anew at its end. Knows no run.

use ::gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use resvg::tiny_skia::Pixmap;

use super::animated::Still;
use super::png::{Faces, Fault};

/// The colours of each frame are chosen with this care, from 1 (most) to 30.
const CARE: i32 = 10;

/// Draws the stills and puts them together: each frame is the part that differs from the one
/// before.
///
/// # Errors
/// Text would be missing, or the pictures are too large for a GIF.
pub fn gif(stills: &[Still], faces: &Faces) -> Result<Vec<u8>, Fault> {
    let mut frames: Vec<Frame<'static>> = Vec::with_capacity(stills.len());
    let mut before: Option<Pixmap> = None;
    for still in stills {
        let image = faces.pixels(&still.svg, 1.0)?;
        let delay = hundredths(still.shown_ms);
        if let Some(part) = changed(&image, before.as_ref()) {
            frames.push(Frame { delay, ..frame(&image, &part)? });
        } else if let Some(last) = frames.last_mut() {
            last.delay = last.delay.saturating_add(delay);
        }
        before = Some(image);
    }
    let Some((width, height)) = frames.first().map(|frame| (frame.width, frame.height)) else {
        return Ok(Vec::new());
    };
    encode(&frames, (width, height)).map_err(|error| Fault::Unreadable(error.to_string()))
}

/// GIF counts time in hundredths of a second.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few seconds")]
fn hundredths(ms: f64) -> u16 {
    (ms / 10.0).round() as u16
}

/// A part of a picture, in pixels; right and bottom lie outside.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

/// The part of `image` that is not the same in `before`, which has its size.
fn changed(image: &Pixmap, before: Option<&Pixmap>) -> Option<Part> {
    let (width, height) = (image.width(), image.height());
    let Some(before) = before else {
        return Some(Part { left: 0, top: 0, right: width, bottom: height });
    };
    let mut part = Part { left: width, top: height, right: 0, bottom: 0 };
    let mut place = (0, 0);
    for (here, there) in image.pixels().iter().zip(before.pixels()) {
        let (x, y) = place;
        if here != there {
            part.left = part.left.min(x);
            part.top = part.top.min(y);
            part.right = part.right.max(x + 1);
            part.bottom = part.bottom.max(y + 1);
        }
        place = if x + 1 == width { (0, y + 1) } else { (x + 1, y) };
    }
    (part.right > 0).then_some(part)
}

/// A part of a picture as a frame at its place.
fn frame(image: &Pixmap, part: &Part) -> Result<Frame<'static>, Fault> {
    let side = |pixels: u32| u16::try_from(pixels).map_err(|_| Fault::TooLarge);
    let (width, height) = (side(part.right - part.left)?, side(part.bottom - part.top)?);
    let mut pixels = Vec::with_capacity(4 * usize::from(width) * usize::from(height));
    for y in part.top..part.bottom {
        for x in part.left..part.right {
            // The ground is opaque, so that no pixel is premultiplied.
            let colour = image.pixel(x, y).ok_or(Fault::TooLarge)?;
            pixels.extend([colour.red(), colour.green(), colour.blue(), colour.alpha()]);
        }
    }
    let frame = Frame::from_rgba_speed(width, height, &mut pixels, CARE);
    let (left, top) = (side(part.left)?, side(part.top)?);
    Ok(Frame { left, top, dispose: DisposalMethod::Keep, ..frame })
}

fn encode(frames: &[Frame<'_>], (width, height): (u16, u16)) -> Result<Vec<u8>, EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height, &[])?;
    encoder.set_repeat(Repeat::Infinite)?;
    for frame in frames {
        encoder.write_frame(frame)?;
    }
    drop(encoder);
    Ok(bytes)
}
