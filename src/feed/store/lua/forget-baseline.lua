--[[ forget-baseline: makes the next sweep of a list a baseline without events, whatever the configuration says of the first one. Records, sequences, members and missing records stay.
  A sweep under way is cut off; otherwise it would complete as an ordinary one and set the baseline again. The next sweep removes
  its walk.
  Atomic because: a commit in between would write the checkpoint again.
  KEYS 1 sweep · 2 lease    RETURN {"forgotten"}    Cost O(1). ]]
redis.call('HDEL', KEYS[1], 'baselineAt', 'checkpoint', 'drifted')
redis.call('HSET', KEYS[1], 'quiet', 1)
redis.call('DEL', KEYS[2])
return { 'forgotten' }
