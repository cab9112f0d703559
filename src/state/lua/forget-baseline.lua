--[[ forget-baseline: the next sweep of a list is a baseline again. Records, sequences, members and whoever is missing stay.
  A sweep under way is cut off: it would end as an ordinary one and put the baseline back. The next one clears up its walk.
  Atomic because: a commit between the steps would put the checkpoint back.
  KEYS 1 sweep · 2 lease    RETURN {"forgotten"}    Cost O(1). ]]
redis.call('HDEL', KEYS[1], 'baselineAt', 'checkpoint')
redis.call('DEL', KEYS[2])
return { 'forgotten' }
