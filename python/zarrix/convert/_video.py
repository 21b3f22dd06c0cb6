"""Video by PyAV: frames, and their times exactly as the file has them.

``planes="rgb"`` gives pixels of red, green and blue, which FFmpeg computes; ``planes="yuv"`` gives
the stored planes, without loss. Frames are decoded in order.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._source import OpenFile, Region, Source, SourceArray

__all__ = ["open_source", "save"]

_YUV = {"yuv420p": (2, 2), "yuvj420p": (2, 2), "yuv422p": (1, 2), "yuvj422p": (1, 2),
        "yuv444p": (1, 1), "yuvj444p": (1, 1)}  # fmt: skip


def library() -> Any:
    """The module av.

    Raises
    ------
    ImportError
        It is not installed.
    """
    try:
        # Optional package: extra [video].
        return importlib.import_module("av")
    except ImportError:
        raise ImportError("video needs the package av: pip install 'zarrix[video]'") from None


def open_source(path: Path, *, planes: str = "rgb") -> Source:
    """The first video stream: ``rgb`` or ``y``, ``u``, ``v``; and the times of frames, ``pts``."""
    av = library()
    if planes not in ("rgb", "yuv"):
        raise ConversionError(f"planes={planes!r} is not 'rgb' or 'yuv'")
    file = OpenFile(path)
    try:
        reader = _Frames(av, path)
        pts, format, height, width, attributes = reader.scan()
    except ConversionError:
        file.close()
        raise
    except Exception as error:
        file.close()
        raise ConversionError(f"{path} is not a video, or is damaged: {error}") from None
    file.close()
    source = Source(str(path), {}, {"": attributes}, identity=[file.identity], close=reader.close)
    if planes == "rgb":
        reader.convert = _rgb
        source.arrays["rgb"] = _pixels(reader, (len(pts), height, width, 3))
    elif format not in _YUV:
        raise ConversionError(f"{path} has pixels of {format}; planes='yuv' needs {[*_YUV]}")
    else:
        down, right = _YUV[format]
        small = (-(-height // down), -(-width // right))
        for index, name in enumerate("yuv"):
            plane = _Frames(av, path)
            plane.convert = _plane(index)
            size = (height, width) if name == "y" else small
            source.arrays[name] = _pixels(plane, (len(pts), *size))
    source.arrays["pts"] = SourceArray(
        pts.shape, pts.dtype, pts.__getitem__, dimension_names=["frame"]
    )
    return source


def _pixels(frames: _Frames, shape: tuple[int, ...]) -> SourceArray:
    """The frames of a video, or one plane of them."""
    _, height, width, *colours = shape
    return SourceArray(
        shape, np.dtype("u1"), lambda region: frames.read(region, None),
        chunks=(1, min(height, 512), min(width, 512), *colours),
        dimension_names=["frame", "y", "x", "c"][: len(shape)], sequential=True,
        why_decoded="frames of a video depend on each other",
    )  # fmt: skip


def _rgb(frame: Any) -> Any:
    return frame.to_ndarray(format="rgb24")


def _plane(index: int) -> Any:
    def take(frame: Any) -> Any:
        plane = frame.planes[index]
        rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
        return rows[:, : plane.width].copy()

    return take


class _Frames:
    """Frames in order; a region before the last one begins the file again."""

    def __init__(self, av: Any, path: Path) -> None:
        self._av, self._path = av, path
        self.convert: Any = _rgb
        self._container: Any = None
        self._frames: Iterator[Any] = iter(())
        self._at = 0

    def scan(self) -> tuple[Any, str, int, int, dict[str, Any]]:
        """Decode once for the exact number of frames and their times."""
        pts: list[int] = []
        with self._av.open(str(self._path)) as container:
            if not container.streams.video:
                raise ConversionError(f"{self._path} has no video stream")
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            format = height = width = rotation = None
            for frame in container.decode(stream):
                here = (frame.format.name, frame.height, frame.width)
                if format is None:
                    format, height, width = here
                    rotation = getattr(frame, "rotation", 0)
                elif here != (format, height, width):
                    raise ConversionError(f"{self._path} changes the size of its frames")
                pts.append(-1 if frame.pts is None else int(frame.pts))
            base = stream.time_base or Fraction(1, 1)
            rate = stream.average_rate
        if format is None or height is None or width is None:
            raise ConversionError(f"{self._path} has no frames")
        attributes = {
            "time_base": f"{base.numerator}/{base.denominator}",
            "average_rate": None if rate is None else f"{rate.numerator}/{rate.denominator}",
            "pixel_format": format,
            "rotation": rotation or 0,
        }
        return np.array(pts, "i8"), format, height, width, attributes

    def _restart(self) -> None:
        self.close()
        self._container = self._av.open(str(self._path))
        stream = self._container.streams.video[0]
        stream.thread_type = "AUTO"
        self._frames, self._at = iter(self._container.decode(stream)), 0

    def read(self, region: Region, _: Any) -> Any:
        """Complete frames."""
        if self._container is None or region[0].start < self._at:
            self._restart()
        out = []
        while self._at < region[0].stop:
            frame = next(self._frames, None)
            if frame is None:
                raise ConversionError(f"{self._path} has changed: it has fewer frames now")
            if self._at >= region[0].start:
                out.append(self.convert(frame)[region[1:]])
            self._at += 1
        return (
            np.stack(out) if out else np.empty([0, *(s.stop - s.start for s in region[1:])], "u1")
        )

    def close(self) -> None:
        """Close the file."""
        if self._container is not None:
            self._container.close()
            self._container = None


def save(node: Any, path: Path, job: Any, *, rate: int = 25) -> None:
    """Write frames of (frame, y, x, 3) and uint8 as FFV1, which loses nothing, in Matroska."""
    av = library()
    array = job.arrays().get("rgb") if not hasattr(node, "shape") else node
    if array is None or array.ndim != 4 or array.shape[-1] != 3 or array.dtype != np.uint8:
        raise ConversionError("a video is made of uint8 frames of (frame, y, x, 3)")
    with av.open(str(path), "w", format="matroska") as container:
        stream = container.add_stream("ffv1", rate=rate)
        stream.height, stream.width = array.shape[1:3]
        stream.pix_fmt = "bgr0"
        for index in range(array.shape[0]):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(array[index]), format="rgb24")
            for packet in stream.encode(frame.reformat(format="bgr0")):
                container.mux(packet)
            job.done += 1
        for packet in stream.encode():
            container.mux(packet)
