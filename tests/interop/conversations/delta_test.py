"""Tests of the differences that recordings are written in."""

import json
import unittest

import delta
import recording


class Delta(unittest.TestCase):
    def assert_told(self, old, new, text):
        self.assertEqual(text, delta.text_of(old, new))
        self.assertEqual(json.dumps(new), json.dumps(delta.apply(old, text)))

    def test_a_value_that_is_another_one_is_replaced(self):
        self.assert_told({"A": 1, "B": 2}, {"A": 1, "B": "x; y = 1"}, 'B = "x; y = 1"')

    def test_a_member_of_a_later_version_keeps_its_place(self):
        self.assert_told({"A": 1, "C": 3}, {"A": 1, "B": 2, "C": 3, "D": [4]}, "B +1 = 2; D +3 = [4]")

    def test_a_member_that_is_not_there_any_more_is_removed(self):
        self.assert_told({"A": 1, "B": 2}, {"B": 3}, "A -; B = 3")

    def test_a_path_leads_into_lists_and_objects(self):
        self.assert_told({"Topics": [{"Name": "a long name", "Id": 1}]}, {"Topics": [{"Name": "a long name", "Id": 2}]}, "Topics[0].Id = 2")

    def test_lists_gain_and_lose_elements_at_their_end(self):
        self.assert_told({"A": ["one long text", "another"]}, {"A": ["one long text"]}, "A[1] -")
        self.assert_told({"A": ["one long text"]}, {"A": ["one long text", 1, 2]}, "A[1] +1 = 1; A[2] +2 = 2")

    def test_values_of_two_types_that_python_takes_for_equal_differ(self):
        self.assert_told({"A": 1, "B": 0.0}, {"A": True, "B": 0}, "A = true; B = 0")

    def test_nothing_is_told_of_equal_values(self):
        self.assert_told({"A": [1, {"B": None}]}, {"A": [1, {"B": None}]}, "")

    def test_members_in_another_order_are_told_as_a_whole(self):
        self.assert_told({"A": {"B": 1, "C": 2}}, {"A": {"C": 2, "B": 1}}, 'A = {"C": 2, "B": 1}')
        self.assertIsNone(delta.text_of({"B": 1, "C": 2}, {"C": 2, "B": 1}))

    def test_values_without_anything_in_common_have_no_difference(self):
        self.assertIsNone(delta.text_of({"A": 1}, "the connection is closed"))

    def test_text_that_does_not_fit_is_an_error(self):
        for text in ("B = 1", "A -; A -", "A +0 = 1", "B +7 = 1", "A[0] = 1", "A = ", "A = 1 B", "A ? 1", "= 1", "L[3] = 1", "L[0] +0 = 1"):
            with self.subTest(text), self.assertRaises(delta.NotADelta):
                delta.apply({"A": 1, "L": [1]}, text)

    def test_what_it_is_applied_to_stays_as_it_is(self):
        old = {"A": [1]}
        delta.apply(old, "A[0] = 2")
        self.assertEqual({"A": [1]}, old)


class Steps(unittest.TestCase):
    TOPIC = {"Name": "a topic with a name that is long enough", "Partitions": [0, 1, 2]}

    def step(self, ask, error="NONE", **members):
        return {"ask": ask, "request": {"Topics": [self.TOPIC], **members}, "answer": {"ThrottleTimeMs": 0, "ErrorCode": error}}

    def assert_told(self, steps, *lines):
        told = recording.told(steps).splitlines()
        self.assertEqual(list(lines), [line for line in told if "{" not in line])

    def test_a_step_like_another_one_says_what_differs(self):
        self.assert_told([self.step("A v1"), {"note": "waits"}, self.step("A v2", "FAILED", New=1)],
                         ". waits", "> A v2 as 1 back: New +1 = 1", '< ErrorCode = "FAILED"')

    def test_a_step_of_another_api_is_no_example(self):
        self.assert_told([self.step("A v1"), self.step("B v1")])

    def test_steps_that_repeat_others_are_one_line(self):
        first = [self.step("A v1 on one, two"), self.step("B v1"), self.step("B v1", New=1)]
        again = [self.step("A v2 on one, two"), self.step("B v2"), self.step("B v2", New=1)]
        self.assert_told(first + again, "> B v1 as 1 back: New +1 = 1", "> A v2 on one, two | B v2 (2 times) as 3 back")

    def test_an_answer_of_another_kind_is_told_as_a_whole(self):
        closed = {**self.step("A v2"), "answer": "the connection is closed"}
        self.assert_told([self.step("A v1"), closed], "> A v2 as 1 back", '< "the connection is closed"')

    def test_a_step_far_back_is_no_example(self):
        between = [self.step("B v1") for _ in range(recording.REACH)]
        self.assertNotIn("A v2 as", recording.told([self.step("A v1"), *between, self.step("A v2")]))
        self.assertIn(f"A v2 as {recording.REACH} back", recording.told([self.step("A v1"), *between[1:], self.step("A v2")]))


if __name__ == "__main__":
    unittest.main()
